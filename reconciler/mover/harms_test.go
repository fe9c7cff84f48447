package mover

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// chosenForShortNode returns a world in which web-1 was chosen because n0 lacks room for what its pods need together, and a budget
// has not let it go yet; all nodes have room for it.
func chosenForShortNode(t *testing.T) (*world, *rests) {
	w, known := shortOf(t)
	w.full = map[string]bool{}
	w.resize()
	w.blocked = true
	w.after(10 * time.Minute)
	if e := w.read().Entries; len(e) != 1 || e[0].Reason != headroom || w.evicted != 0 {
		t.Fatalf("%d evicted, the book has %+v", w.evicted, e)
	}
	return w, known
}

// TestUnknownShortage lets a leader begin that does not know yet what nodes lack, long after the node had enough again.
func TestUnknownShortage(t *testing.T) {
	w, known := chosenForShortNode(t)
	known.lacks = node.Resources{}
	w.after(time.Second)
	w.after(30 * time.Minute)
	if e := w.read().Entries; len(e) != 1 || e[0].Cleared.IsZero() {
		t.Fatalf("the book has %+v", e)
	}
	w.blocked = false
	w.after(time.Minute)
	w.expect(0, "its node has had room for it since")
	w.lead()
	w.mover.Headroom = &rests{unknown: true}
	w.after(time.Second)
	w.expect(0, "it was chosen")
}

// TestReturnedCause lets a cause go away, and come back: it has not held for eviction.after.
func TestReturnedCause(t *testing.T) {
	t.Run("of a pod", func(t *testing.T) {
		w := calm(t)
		w.blocked = true
		w.after(10 * time.Minute)
		w.full = map[string]bool{}
		w.resize()
		w.after(time.Second)
		w.blocked = false
		w.after(50 * time.Minute)
		w.expect(0, "its node has had room for it since")
		w.full["n0"] = true
		w.resize()
		w.after(time.Second)
		w.after(time.Second)
		w.expect(0, "it may be evicted from")
	})
	t.Run("of a node", func(t *testing.T) {
		w, known := chosenForShortNode(t)
		lacks := known.lacks
		known.lacks = node.Resources{}
		w.after(time.Second)
		w.blocked = false
		w.after(50 * time.Minute)
		w.expect(0, "its node has had room for it since")
		known.lacks = lacks
		w.mover.NodeChanged("n0")
		w.after(time.Second)
		w.after(time.Second)
		w.expect(0, "it may be evicted from")
	})
}

// TestChosenLeaver lets a pod that was chosen no longer be one that makes room.
func TestChosenLeaver(t *testing.T) {
	t.Run("a pod in another namespace needs more now", func(t *testing.T) {
		w, known := chosenForShortNode(t)
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("bank", "db-1", "n0"))
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "db", "rs-db"
		ready(p, true)
		w.put(p)
		known.of["db-1"] = node.Resources{CPU: 301}
		w.after(time.Second)
		w.blocked = false
		w.after(lastRetry)
		if w.objects["web-1"] == nil {
			t.Error("web-1 was evicted, although a pod in another namespace needs more of what their node lacks")
		}
	})
	t.Run("it needs nothing any more of what its node lacks", func(t *testing.T) {
		w, known := chosenForShortNode(t)
		known.of["web-1"] = node.Resources{}
		w.after(time.Second)
		w.blocked = false
		w.after(lastRetry)
		if w.objects["web-1"] == nil {
			t.Error("web-1 was evicted, although that makes no room")
		}
	})
}

// TestOtherReason lets the reason of a pod change that was chosen: its node has no room all the time.
func TestOtherReason(t *testing.T) {
	w := calm(t, on("web-1", func(p *corev1.Pod) {
		podtest.WithStatus(podtest.Amounts{"1", "", "512Mi", ""}, podtest.Amounts{"1", "", "512Mi", ""})(p)
		p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "OOMKilled", FinishedAt: metav1.NewTime(podtest.Start)}
	}))
	w.blocked = true
	w.after(time.Second)
	w.expect(0, "a PodDisruptionBudget does not allow it now")
	for range 7 {
		w.after(10 * time.Minute)
	}
	said := w.mover.Explain(w.cluster.Pods("shop").Get("web-1"))
	if strings.Contains(said, "its node has had room for it") {
		t.Errorf("it says %q, although its node has never had room", said)
	}
	w.blocked = false
	w.after(lastRetry)
	w.expect(1, "")
}

// TestRunToCompletion lets a pod move that a controller of --owner-kinds runs once, such as one of Argo Workflows, Tekton or Spark.
func TestRunToCompletion(t *testing.T) {
	w := calm(t, func(p *corev1.Pod) {
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
		p.OwnerReferences[0].APIVersion, p.OwnerReferences[0].Kind = "argoproj.io/v1alpha1", "Workflow"
	})
	w.cluster.Planner.OwnerKinds = append(slices.Clone(w.cluster.Planner.OwnerKinds), "Workflow.argoproj.io")
	w.after(time.Second)
	w.after(10 * time.Minute)
	w.expect(0, "it is not evicted")
}

// TestStatefulSetGoing lets a pod of a StatefulSet with three pods move while another one is being deleted, say because its node is
// drained.
func TestStatefulSetGoing(t *testing.T) {
	of := func(p *corev1.Pod) {
		p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "StatefulSet", "web", "rs-web"
	}
	w := calm(t, of)
	p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", "web-0", "n1"), of)
	ready(p, true)
	p.DeletionTimestamp = &metav1.Time{Time: w.cluster.Clock.Now().Add(20 * time.Minute)}
	w.put(p)
	w.after(10 * time.Minute)
	w.expect(0, "another pod of its StatefulSet is not ready")
}

// several is a Headroom of which several nodes lack something.
type several struct {
	rests
	on map[string]bool
}

// Lacks implements Headroom.
func (s *several) Lacks(name string) (lacks node.Resources, inUse bool) {
	if s.on[name] {
		return s.lacks, s.inUse
	}
	return lacks, false
}

// TestShortTarget lets the only other node lack the same: more memory is in use than it has.
func TestShortTarget(t *testing.T) {
	for _, inUse := range []bool{true, false} {
		t.Run(fmt.Sprint("in use: ", inUse), func(t *testing.T) {
			w := calm(t)
			w.full = map[string]bool{}
			w.resize()
			w.mover.Headroom = &several{rests: rests{lacks: node.Resources{Memory: 500}, inUse: inUse, of: map[string]node.Resources{"web-1": {Memory: 300}}}, on: map[string]bool{"n0": true, "n1": true}}
			w.mover.NodeChanged("n0")
			w.mover.NodeChanged("n1")
			w.after(time.Second)
			w.after(10 * time.Minute)
			if w.evicted > 0 {
				t.Error("web-1 was evicted to n1, which lacks the same")
			}
		})
	}
}

// counting is a Loop that notes which evictions count.
type counting struct {
	*world
	counted, missed int
}

// CountEviction implements Loop.
func (c *counting) CountEviction(_ workload.Group, e workload.Eviction) {
	c.counted++
	if !e.Missed.IsZero() {
		c.missed++
	}
}

// TestRefusedEviction lets a pod go by itself, as in a rollout, that a budget has kept from being evicted.
func TestRefusedEviction(t *testing.T) {
	leave := func(w *world) {
		is := w.cluster.Pods("shop").Get("web-1")
		delete(w.objects, "web-1")
		w.forget(is)
		next := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", "web-3", "n1"))
		next.OwnerReferences[0].Name, next.OwnerReferences[0].UID = "web", "rs-web"
		ready(next, false) // The new version does not become ready.
		w.put(next)
		w.after(time.Second)
	}
	expect := func(w *world, c *counting) {
		w.Helper()
		if done, _ := w.mover.Moved(); len(done) > 0 {
			w.Errorf("status lists %+v as evicted", done)
		}
		w.after(11 * time.Minute)
		if c.missed > 0 {
			w.Errorf("an eviction counts for the breaker as one that no ready pod has followed")
		}
		if w.evicted > 0 {
			w.Fatalf("%d pods were evicted", w.evicted)
		}
	}
	t.Run("a budget refused it", func(t *testing.T) {
		w := calm(t)
		c := &counting{world: w}
		w.mover.Loop = c
		w.blocked = true
		w.after(10 * time.Minute)
		leave(w)
		expect(w, c)
	})
	t.Run("in a dry run", func(t *testing.T) {
		w := calm(t)
		c := &counting{world: w}
		config := w.mover.Config
		config.DryRun, config.Loop = true, c
		w.mover = New(config)
		w.plan()
		w.after(10 * time.Minute)
		leave(w)
		expect(w, c)
	})
	t.Run("nor is it said that it was evicted", func(t *testing.T) {
		w := crowd(t)
		w.settle(policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: 1})
		w.pair("shop", "web", 0)
		w.pair("shop", "y", 1)
		w.resize()
		w.lead()
		w.blocked = true
		w.after(10 * time.Minute)
		if said := w.mover.Explain(w.cluster.Pods("shop").Get("y-0")); strings.Contains(said, "1 pods were evicted") {
			t.Errorf("it says %q, although none was", said)
		}
	})
}

// TestQuota lets a pod move in a namespace whose quota was lowered: no pod can be created there.
func TestQuota(t *testing.T) {
	for _, tc := range []struct {
		name       corev1.ResourceName
		hard, used string
		evicted    int
	}{
		{"requests.cpu", "1", "2", 0}, {"requests.cpu", "2", "2", 1}, {"limits.cpu", "1", "2", 1}, {"pods", "1", "2", 0}, {"pods", "2", "2", 1}, {"count/pods", "1", "2", 0},
		{"requests.ephemeral-storage", "1", "2", 0}, {"limits.ephemeral-storage", "1", "2", 0}, {"requests.nvidia.com/gpu", "1", "2", 0}, {"hugepages-2Mi", "1", "2", 0},
		{"requests.cpu", "1", "", 0}, {"requests.storage", "1", "2", 1}, {"configmaps", "1", "2", 1},
	} {
		t.Run(fmt.Sprintf("%s: %q of %s", tc.name, tc.used, tc.hard), func(t *testing.T) {
			w := calm(t)
			q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "lowered"}}
			q.Status.Hard = corev1.ResourceList{tc.name: resource.MustParse(tc.hard)}
			if tc.used != "" {
				q.Status.Used = corev1.ResourceList{tc.name: resource.MustParse(tc.used)}
			}
			if err := w.cluster.KnowQuota(q); err != nil {
				t.Fatal(err)
			}
			w.after(10 * time.Minute)
			w.after(time.Minute)
			if w.evicted != tc.evicted {
				t.Errorf("%d were evicted, want %d; web-1 says %q", w.evicted, tc.evicted, w.mover.retries["shop/web-1"].why)
			}
		})
	}
}

// TestOtherNames lets an owner get an absurd name after its pod was chosen.
func TestOtherNames(t *testing.T) {
	w := calm(t)
	w.blocked = true
	w.after(10 * time.Minute)
	p := w.objects["web-1"].DeepCopy()
	p.OwnerReferences[0].Name = strings.Repeat("x", 600<<10)
	w.put(p)
	for range 3 {
		w.after(10 * time.Minute)
	}
	if len(w.stored) > 10<<10 {
		t.Errorf("the book has %d bytes", len(w.stored))
	}
}

// TestRefusedEverywhere lets budgets keep many pods in a namespace, on all nodes: they do not keep a pod of another one where it is.
func TestRefusedEverywhere(t *testing.T) {
	w := crowd(t)
	for i := range 5 {
		for _, name := range []string{"a", "b"} {
			w.pair("mine", fmt.Sprint(name, i), i)
			p := w.objects[fmt.Sprint(name, i, "-0")].DeepCopy()
			podtest.Annotated("eviction-rank", "low")(p)
			ready(p, false)
			w.put(p)
		}
	}
	w.pair("shop", "e", 4)
	w.resize()
	w.lead()
	w.refuse("mine")
	for range 6 * 60 {
		w.after(time.Minute)
		w.mover.BudgetEased("mine")
	}
	if w.objects["e-0"] != nil {
		t.Errorf("e-0 says %q", w.mover.Explain(w.cluster.Pods("shop").Get("e-0")))
	}
	mine := 0
	for _, e := range w.read().Entries {
		if e.Namespace == "mine" && e.Chosen.Before(w.read().Entries[0].Chosen.Add(time.Hour)) {
			mine++
		}
	}
	if mine > most/2 {
		t.Errorf("%d were chosen in one namespace within an hour, of %d", mine, most)
	}
}

// TestEased lets a budget permit more, for a moment, all the time.
func TestEased(t *testing.T) {
	w := calm(t)
	w.refuse("shop")
	tries := 0
	answers := w.mover.Evict
	w.mover.Evict = func(ctx context.Context, p *corev1.Pod, permit func(context.Context) error) error {
		tries++
		return answers(ctx, p, permit)
	}
	for range 20 {
		w.after(time.Minute)
	}
	before := tries
	for range 10 * 60 {
		w.mover.BudgetEased("shop")
		w.after(time.Second)
	}
	if n := tries - before; n < 9 || n > 11 {
		t.Errorf("%d attempts within 10 minutes, want one a minute", n)
	}
}

// TestSuccessor lets a pod that was refused be replaced on the same node: the next one lacks room there, too, and may move.
func TestSuccessor(t *testing.T) {
	w := calm(t)
	w.blocked = true
	w.after(10 * time.Minute)
	w.replace("web-1", "web-3")
	w.blocked = false
	w.after(time.Second)
	w.after(10 * time.Minute)
	if w.evicted != 1 {
		t.Errorf("%d were evicted; web-3 says %q", w.evicted, w.mover.Explain(w.cluster.Pods("shop").Get("web-3")))
	}
}

// TestCap lets pods be refused in one namespace, as many as may be chosen: those of another one have the rest of the hour.
func TestCap(t *testing.T) {
	w := crowd(t)
	for i, name := range []string{"a", "b", "c"} {
		w.pair("mine", name, i)
		p := w.objects[name+"-0"].DeepCopy()
		ready(p, false)
		w.put(p)
	}
	for i, name := range []string{"d", "e", "f"} {
		w.pair("shop", name, i+2)
	}
	w.resize()
	w.lead()
	w.refuse("mine")
	w.after(10 * time.Minute)
	for range 30 {
		w.after(time.Minute)
	}
	if w.evicted != 3 {
		t.Errorf("%d were evicted, want 3", w.evicted)
	}
}

// TestDryLimit shows how many pods would move within an hour.
func TestDryLimit(t *testing.T) {
	w := crowd(t)
	w.settle(policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: 1})
	w.pair("shop", "a", 0)
	w.pair("shop", "b", 1)
	w.resize()
	w.lead()
	config := w.mover.Config
	config.DryRun = true
	w.mover = New(config)
	w.plan()
	w.after(10 * time.Minute)
	would := 0
	for _, name := range []string{"a-0", "b-0"} {
		if strings.Contains(w.mover.Explain(w.cluster.Pods("shop").Get(name)), "it would be evicted") {
			would++
		}
	}
	if would != 1 {
		t.Errorf("%d would be evicted, want 1", would)
	}
}

// TestProtectedWaits looks at what is said of pods that never move.
func TestProtectedWaits(t *testing.T) {
	w := calm(t, func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" })
	w.after(time.Second)
	if said := w.mover.Explain(w.cluster.Pods("shop").Get("web-1")); strings.Contains(said, "it may be evicted") {
		t.Errorf("it says %q", said)
	}
	w.after(10 * time.Minute)
	if _, waiting := w.mover.Moved(); waiting != 0 {
		t.Errorf("status says that %d pods may be evicted; explain says %q", waiting, w.mover.Explain(w.cluster.Pods("shop").Get("web-1")))
	}
}

// changing is a Leader that may lead.
type changing struct{ leads bool }

// Leading implements Leader.
func (c *changing) Leading() bool { return c.leads }

// Watch implements Leader.
func (*changing) Watch() <-chan struct{} { return nil }

// TestFormerLeader lets a leader no longer lead: what it found then is outdated.
func TestFormerLeader(t *testing.T) {
	w := calm(t)
	w.full["n1"] = true
	w.resize()
	leader := &changing{true}
	w.mover.Leader = leader
	w.after(10 * time.Minute)
	w.expect(0, "too little cpu")
	leader.leads = false
	w.full["n1"] = false
	w.resize()
	w.after(3 * time.Hour)
	w.expect(0, "the leader decides")
}

// TestManySmall lets many pods in a namespace use most of what their node lacks, each of them little.
func TestManySmall(t *testing.T) {
	w := calm(t)
	w.full = map[string]bool{}
	w.resize()
	of := map[string]node.Resources{"web-1": {Memory: 300}}
	for i := range 20 {
		name := fmt.Sprint("evil-", i)
		p := podtest.Pod(podtest.Amounts{"10m", "", "1Mi", ""}, clustertest.Named("evil", name, "n0"))
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "evil", "rs-evil"
		ready(p, true)
		w.put(p)
		of[name] = node.Resources{Memory: 299}
	}
	w.mover.Headroom = &rests{lacks: node.Resources{Memory: 500}, inUse: true, of: of}
	w.mover.NodeChanged("n0")
	w.after(time.Second)
	if w.objects["web-1"] == nil {
		t.Error("web-1 was evicted so that pods in another namespace can have 20 times as much")
	}
}

// TestTwoRefused lets a right be missing in one namespace, and then exist in another.
func TestTwoRefused(t *testing.T) {
	w := crowd(t)
	w.pair("bank", "x", 0)
	w.pair("shop", "y", 1)
	w.resize()
	w.lead()
	answers := w.mover.Evict
	refused := map[string]bool{"bank": true, "shop": true}
	w.mover.Evict = func(ctx context.Context, p *corev1.Pod, permit func(context.Context) error) error {
		if refused[p.Namespace] {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, p.Name, errors.New(`User "resizer" cannot create resource "pods/eviction" in API group ""`))
		}
		return answers(ctx, p, permit)
	}
	w.after(10 * time.Minute)
	refused["shop"] = false
	w.mover.retrying("bank/x-0", func(r *retry) { r.at = w.cluster.Clock.Now().Add(9 * time.Minute) })
	w.after(2 * time.Second)
	if w.evicted != 1 {
		t.Fatalf("%d were evicted", w.evicted)
	}
	if err := w.mover.Problem(); !errors.Is(err, errRefused) {
		t.Errorf("the problem is %v, although the right is still missing in bank", err)
	}
}

// refuse lets the API server refuse all evictions in a namespace because of a budget.
func (w *world) refuse(namespace string) {
	answers := w.mover.Evict
	w.mover.Evict = func(ctx context.Context, p *corev1.Pod, permit func(context.Context) error) error {
		if p.Namespace == namespace {
			return &actuate.BudgetError{Err: apierrors.NewGenericServerResponse(http.StatusTooManyRequests, "evict", schema.GroupResource{Resource: "pods"}, p.Name, "budget", 0, true)}
		}
		return answers(ctx, p, permit)
	}
}

// TestHeldHour lets the API server refuse the evictions of one namespace for hours: they must not keep the pods of others where they
// are. A PodDisruptionBudget of pods that never become ready does that.
func TestHeldHour(t *testing.T) {
	w := crowd(t)
	for i, name := range []string{"a", "b", "c", "d"} {
		w.pair("mine", name, i)
		p := w.objects[name+"-0"].DeepCopy()
		ready(p, false)
		w.put(p)
	}
	w.resize()
	w.lead()
	w.refuse("mine")
	w.after(10 * time.Minute)
	w.pair("shop", "e", 4)
	w.resize()
	for range 6 * 60 {
		w.after(time.Minute)
	}
	if w.objects["e-0"] != nil {
		t.Errorf("after 6 hours, nothing was evicted, and e-0 says %q", w.mover.Explain(w.cluster.Pods("shop").Get("e-0")))
	}
}

// TestSteadyNeighbor lets a pod need steadily more than it has, while one in another namespace needs little, but not always.
func TestSteadyNeighbor(t *testing.T) {
	w := calm(t)
	p := podtest.Pod(podtest.Amounts{"4", "", "1Gi", ""}, clustertest.Named("evil", "evil-1", "n0"))
	p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "evil", "rs-evil"
	ready(p, true)
	w.put(p)
	q := podtest.Pod(podtest.Amounts{"4", "", "1Gi", ""}, clustertest.Named("evil", "evil-2", "n1"))
	q.OwnerReferences[0].Name, q.OwnerReferences[0].UID = "evil", "rs-evil"
	ready(q, true)
	w.put(q)
	w.full = map[string]bool{}
	w.resize()
	w.roomOf("n0", "5500m") // Room for the 250m that web-1 needs in addition, not for the core that evil-1 does.
	w.mover.Headroom = &rests{lacks: node.Resources{CPU: 750}, of: map[string]node.Resources{"web-1": {CPU: 1}}}
	w.mover.NodeChanged("n0")
	w.after(time.Second)
	w.after(time.Second)
	w.after(11 * time.Minute)
	if w.objects["web-1"] == nil || w.evicted != 1 {
		t.Errorf("web-1 was evicted: %t, so that evil-1 can have more, which stays: %t", w.objects["web-1"] == nil, w.objects["evil-1"] != nil)
	}
}

// TestSaysWhatLacks looks at the event of a pod whose node has more memory in use than it has.
func TestSaysWhatLacks(t *testing.T) {
	w := calm(t)
	w.full = map[string]bool{}
	w.resize()
	said := ""
	w.mover.Tell = func(_ types.NamespacedName, _ types.UID, r plan.Reason) { said = r.Message }
	w.mover.Headroom = &rests{lacks: node.Resources{Memory: 500}, inUse: true, of: map[string]node.Resources{"web-1": {Memory: 300}}}
	w.mover.NodeChanged("n0")
	w.after(time.Second)
	if w.evicted != 1 || !strings.Contains(said, "memory") {
		t.Errorf("%d evicted; the event says %q: neither that memory lacks, nor that more is in use than the node has", w.evicted, said)
	}
}
