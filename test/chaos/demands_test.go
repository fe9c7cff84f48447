package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// While demands change, one process runs for each demandShare of the rounds. After every checkDemandsEvery of them, one
	// may finish its work.
	demandShare, shortDemandRounds, checkDemandsEvery = 5, 16, 8
	// working is the namespace of the pods whose usage is measured, and workingPods is their number.
	working, workingPods = "chaos-working", 24
)

// byUsage makes sizes follow usage. Limits keep their proportion to requests.
var byUsage = policy.Demand{
	From: policy.FromUsage, Mode: policy.Apply, MaxGrowth: 1000,
	CPU: policy.ResourceDemand{Target: 0.9}, Memory: policy.ResourceDemand{Target: 0.9, Limit: "follow"},
}

// TestDemands lets sizes follow usage. It has a cluster of its own, and mostly waits, too.
func TestDemands(t *testing.T) {
	t.Parallel()
	newSuite(t).changingDemands(t)
}

// changingDemands kills one process after another while calls and the source of usage fail, while ratios, bounds and what
// containers use change, and while other actors resize pods. Sizes follow from the originals or from what containers used
// at some time. They stay while nobody knows what containers use, or in a freeze, and are scaled from the originals again
// when they no longer follow usage. A restore returns a pod to its originals even if another actor has resized it.
func (s *suite) changingDemands(t *testing.T) {
	n := *roundsFlag / demandShare
	if testing.Short() {
		n = shortDemandRounds
	}
	r := random(t)
	w := newWorld(t, s.config, workingTable(r, byUsage), "n2d", "n4")
	source := w.keepSource(t, working)
	source.change(r)
	for i := range workingPods {
		w.create(t, working, fmt.Sprintf("pod-%d", i), &workers[i%len(workers)], i/len(workers)%len(w.nodes))
	}
	w.awaitRunning(t)
	d := &demands{crashes: crashes{world: w, ctx: t.Context()}, observer: w.observeDemands(t), longAgo: metav1.NewTime(time.Now().Add(-10 * 24 * time.Hour).Truncate(time.Second))}
	dice := newDice(r)
	proxy := localcluster.ProxyForTest(t, s.config, dice.onWrite)
	proxy.Interfere(dice.onOther)
	for round := 1; round <= n && !t.Failed(); round++ {
		d.change(t, r)
		reads, writes := w.config, w.config
		if r.IntN(4) == 0 {
			reads, writes = s.through(proxy), s.through(proxy)
		}
		frozen := r.IntN(6) == 0
		w.holds.freeze(frozen)
		w.external = []plan.External{plan.LeaveExternal, plan.OverrideExternal}[r.IntN(2)]
		before := d.sizes(t)
		m := &mortal{left: 1 + r.IntN(1+r.IntN(40)), fate: fate(r.IntN(2)), dead: make(chan struct{})}
		life := w.start(t, reads, m.wrap(writes))
		d.awaitDeath(t, m, source.count()+2+r.IntN(15))
		life.stop(t)
		if frozen {
			w.holds.freeze(false)
			d.stay(t, before, fmt.Sprintf("in the freeze of round %d", round))
		}
		if round%checkDemandsEvery == 0 {
			d.check(t, r, fmt.Sprintf("after round %d", round))
		}
	}
	d.observer.check(t)
	t.Logf("%d calls failed; sizes from usage were seen %d times", dice.failures(), d.observer.bySource)
}

// workingTable returns a table in which n4 is as fast as it is, or faster.
func workingTable(r *rand.Rand, of policy.Demand) *table {
	t := simpleTable([]string{"1.25", "2"}[r.IntN(2)])
	t.measured, t.demand = true, of
	if r.IntN(3) == 0 {
		t.cpuBounds.Max, t.cpuBounds.Min = 1000, 50
	}
	return t
}

// demands are processes that run one after another while demands change.
type demands struct {
	crashes
	observer *demandObserver
	longAgo  metav1.Time
}

// change changes what containers use and what users want, replaces pods, and lets time pass.
func (d *demands) change(t *testing.T, r *rand.Rand) {
	t.Helper()
	d.source.change(r)
	d.observer.allow()
	if r.IntN(2) == 0 {
		of := []policy.Demand{byUsage, byUsage, byUsage, {}, {From: policy.FromUsage, Mode: policy.Observe}}[r.IntN(5)]
		d.setTable(workingTable(r, of))
		d.observer.allow()
	}
	if r.IntN(4) == 0 {
		d.setNodeType(t, d.nodes[r.IntN(len(d.nodes))].Name, []string{"n2d", "n4"}[r.IntN(2)])
		d.observer.allow()
	}
	if r.IntN(3) == 0 {
		d.changeHold(t, r)
	}
	keys := d.keys()
	for range r.IntN(3) {
		created, err := d.replace(t.Context(), keys[r.IntN(len(keys))], &workers[r.IntN(len(workers))], r.IntN(len(d.nodes)))
		if err != nil {
			t.Fatal(err)
		}
		d.observer.know(created)
	}
	for range r.IntN(len(keys)) {
		d.age(t, keys[r.IntN(len(keys))])
	}
	for range r.IntN(3) {
		d.resizeCPUByAnother(t, r, keys[r.IntN(len(keys))])
	}
}

// resizeCPUByAnother sets the CPU of a pod whose originals are recorded, as another actor would.
func (d *demands) resizeCPUByAnother(t *testing.T, r *rand.Rand, key types.NamespacedName) {
	t.Helper()
	pod, sets := d.get(t, key), false
	for _, c := range resizable(pod) {
		if p := (pair{c, corev1.ResourceCPU}); !guaranteed(pod) && p.now().Request > 0 && pod.Annotations[contract.CPURequest.Key(c.Name)] != "" {
			setAmount(p, anotherAmount(r, p))
			sets = true
		}
	}
	if !sets {
		return
	}
	d.observer.leave(pod.UID)
	manager := resizers[r.IntN(len(resizers))]
	if _, err := d.podsOf(key).UpdateResize(t.Context(), key.Name, pod, metav1.UpdateOptions{FieldManager: manager}); err != nil && !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) {
		t.Fatal(err)
	}
}

// awaitDeath waits until a process is killed, or has read the source that often.
func (d *demands) awaitDeath(t *testing.T, m *mortal, reads int) {
	t.Helper()
	localcluster.Eventually(t, "a process to be killed, or to read the source", func() error {
		select {
		case <-m.dead:
			return nil
		default:
		}
		if d.source.count() < reads {
			return errors.New("it lives, and has not read the source often enough")
		}
		return nil
	})
}

// since are the times in the annotation with the applied sizes: when a resource that the last resize did not change had
// been changed.
var since = regexp.MustCompile(`@[^ ;]+`)

// age lets a pod look as if it had been resized long ago: sizes that changed a short time ago stay.
func (d *demands) age(t *testing.T, key types.NamespacedName) {
	t.Helper()
	pod := d.get(t, key)
	young := false
	for i := range pod.ManagedFields {
		if m := &pod.ManagedFields[i]; m.Manager == contract.FieldManager && m.Subresource == contract.ResizeSubresource && !m.Time.Equal(&d.longAgo) {
			m.Time, young = &d.longAgo, true
		}
	}
	meta := map[string]any{"resourceVersion": pod.ResourceVersion, "managedFields": pod.ManagedFields}
	sizes := pod.Annotations[contract.AppliedSizes]
	if old := since.ReplaceAllString(sizes, "@"+d.longAgo.UTC().Format(time.RFC3339)); old != sizes {
		meta["annotations"], young = map[string]string{contract.AppliedSizes: old}, true
	}
	if !young {
		return
	}
	body, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		t.Fatal(err)
	}
	// Annotations of other actors do not count.
	if _, err := d.podsOf(key).Patch(t.Context(), key.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: contract.FieldManager}); err != nil && !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
}

// letPass lets time pass for a pod that has not been resized for too short a time. A pod that was never resized keeps for a
// day what its author wrote, so it is replaced by one that has not worked yet, once the process knows what it needs.
func (d *demands) letPass(t *testing.T, key types.NamespacedName) {
	t.Helper()
	p, err := d.life.Preview(d.ctx, key, query.PreviewOptions{})
	switch {
	case err != nil || p.Decision != plan.Align || p.Containers[0].Unmeasured[0]:
	case resizedByUs(d.get(t, key)):
		d.age(t, key)
	default:
		d.recreate(t, key)
	}
}

// recreate replaces a pod by one of the same shape on the same node.
func (d *demands) recreate(t *testing.T, key types.NamespacedName) {
	t.Helper()
	spec := &d.created[key].Spec
	is := func(s shape) bool {
		return s.containers[len(s.containers)-1].name == spec.Containers[len(spec.Containers)-1].Name
	}
	on := func(n *corev1.Node) bool { return n.Name == spec.NodeName }
	created, err := d.replace(d.ctx, key, &workers[slices.IndexFunc(workers, is)], slices.IndexFunc(d.nodes, on))
	if err != nil {
		t.Fatal(err)
	}
	d.observer.know(created)
}

// resizedByUs reports whether the reconciler has resized the pod.
func resizedByUs(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == contract.FieldManager && m.Subresource == contract.ResizeSubresource
	})
}

// check lets processes finish their work: sizes follow what containers use, stay when nobody knows it, and are scaled from
// the originals when they no longer follow usage.
func (d *demands) check(t *testing.T, r *rand.Rand, when string) {
	t.Helper()
	d.holds.releaseAll(hold.Pause)
	d.holds.releaseAll(hold.Restore)
	d.external = plan.OverrideExternal
	d.restoreLeft(t, when)
	d.setTable(workingTable(r, byUsage))
	d.source.set(works)
	d.observer.allow()
	life := d.start(t, d.config, d.config)
	localcluster.Eventually(t, "all pods to follow what containers use "+when, func() error {
		var last error
		for _, key := range d.keys() {
			if err := d.follows(key); err != nil {
				last = err
				d.letPass(t, key)
			}
		}
		return last
	})
	life.stop(t)

	d.source.set(gone)
	before := d.sizes(t)
	life, reads := d.start(t, d.config, d.config), d.source.count()
	localcluster.Eventually(t, "all pods to be planned without a source "+when, func() error {
		if life.planned(t) < len(d.created) || life.gauge(t, "workload_resizer_queue_depth") > 0 || d.source.count() < reads+3 {
			return errors.New("not all pods are planned, or the source was hardly read")
		}
		return nil
	})
	life.stop(t)
	d.stay(t, before, when+" and without a source")

	d.setTable(workingTable(r, policy.Demand{}))
	d.observer.allow()
	life = d.start(t, d.config, d.config)
	d.awaitAllRight(t, when+" and without demand from usage")
	life.stop(t)
}

// restoreLeft restores the pods that other actors have resized, and then replaces them, so that the observer looks at
// their sizes again.
func (d *demands) restoreLeft(t *testing.T, when string) {
	t.Helper()
	left := d.observer.leftPods()
	for _, key := range left {
		d.holds.put(hold.Restore, hold.Scope{Namespace: key.Namespace, Pod: key.Name, UID: d.created[key].UID})
	}
	life := d.start(t, d.config, d.config)
	localcluster.Eventually(t, "pods that others have resized to be restored "+when, func() error {
		for _, key := range left {
			if got, want := sizesOf(d.pod(key)), sizesOf(d.created[key]); got != want {
				return fmt.Errorf("%s has %q, want %q; %s", key, got, want, d.planned(d.pod(key)))
			}
		}
		return nil
	})
	life.stop(t)
	d.holds.releaseAll(hold.Restore)
	for _, key := range left {
		d.recreate(t, key)
	}
}

// stay fails the test if the sizes of a pod are others than before.
func (d *demands) stay(t *testing.T, before map[types.NamespacedName]string, when string) {
	t.Helper()
	for key, now := range d.sizes(t) {
		if now != before[key] {
			t.Errorf("%s, the sizes of %s become %s, and were %s", when, key, now, before[key])
		}
	}
}

// sizes returns the sizes of all pods. It asks the API server: a watch may not have seen the last resize by another actor.
func (d *demands) sizes(t *testing.T) map[types.NamespacedName]string {
	t.Helper()
	all := map[types.NamespacedName]string{}
	for _, key := range d.keys() {
		all[key] = sizesOf(d.get(t, key))
	}
	return all
}

// follows returns an error unless a pod has the sizes that follow from what its containers use now.
func (d *demands) follows(key types.NamespacedName) error {
	d.mu.Lock()
	created, rule := d.created[key], d.rule()
	d.mu.Unlock()
	pod := d.pod(key)
	if pod == nil || pod.UID != created.UID {
		return fmt.Errorf("%s does not exist", key)
	}
	for p := range pairsOf(pod) {
		if p.now().Request == 0 || p.resource == corev1.ResourceMemory && cpuOnly.Load() {
			continue
		}
		if wanted := d.observer.desired(p.in(created), &rule, pod.Spec.NodeName); !nearAny(p.now().Request, wanted, 0.1) {
			return fmt.Errorf("%s on %s: %s %s is %v, want the request in one of %v; %s", key, rule.nodeTypes[pod.Spec.NodeName], p.container.Name, p.resource, p.now(), wanted, d.planned(pod))
		}
	}
	return nil
}
