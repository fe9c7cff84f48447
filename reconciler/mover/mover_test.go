package mover

import (
	"bytes"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// calm returns a world in which nothing happens by itself: nodes n0, which is full, and n1; two pods of the workload web, web-1
// on n0 and web-2 on n1.
func calm(t *testing.T, change ...func(*corev1.Pod)) *world {
	w := &world{T: t, objects: map[string]*corev1.Pod{}, full: map[string]bool{"n0": true}, stored: []byte("[]")}
	w.begin(2)
	for i, name := range []string{"web-1", "web-2"} {
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", name, w.nodes[i].Name))
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "web", "rs-web"
		ready(p, true)
		for _, f := range change {
			f(p)
		}
		w.put(p)
	}
	w.resize()
	w.lead()
	return w
}

// after lets time pass, and the leader look.
func (w *world) after(d time.Duration) {
	clustertest.Clock(w.cluster).Step(d)
	w.plan()
	w.mover.look(klog.NewContext(w.Context(), klog.Logger{}))
}

// expect checks how many pods were evicted, and what is said about web-1.
func (w *world) expect(evicted int, said string) {
	w.Helper()
	if w.evicted != evicted {
		w.Errorf("%d pods were evicted, want %d", w.evicted, evicted)
	}
	of := w.cluster.Pods("shop").Get("web-1")
	if of == nil {
		if said != "" {
			w.Errorf("the pod is gone, want %q", said)
		}
		return
	}
	if got := w.mover.Explain(of); !strings.Contains(got, said) || (got == "") != (said == "") {
		w.Errorf("it says %q, want %q", got, said)
	}
}

func on(name string, f func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Name == name {
			f(p)
		}
	}
}

func TestMover(t *testing.T) {
	t.Run("a pod moves when its node has had no room for long", func(t *testing.T) {
		w := calm(t)
		w.after(9 * time.Minute)
		w.expect(0, "it may be evicted from 20")
		w.after(time.Minute)
		w.expect(1, "")
		if !bytes.Contains(w.stored, []byte(`"uid":"shop/web-1"`)) {
			t.Errorf("the decision is not stored: %s", w.stored)
		}
	})
	t.Run("a pod whose node has room stays", func(t *testing.T) {
		w := calm(t)
		w.full["n0"] = false
		w.resize()
		w.after(time.Hour)
		w.expect(0, "")
	})
	t.Run("a pod moves without a delay after a kill for lack of memory", func(t *testing.T) {
		// The kubelet has not set aside the memory that the spec requests.
		w := calm(t, on("web-1", func(p *corev1.Pod) {
			podtest.WithStatus(podtest.Amounts{"1", "", "512Mi", ""}, podtest.Amounts{"1", "", "512Mi", ""})(p)
			p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "OOMKilled", FinishedAt: metav1.NewTime(podtest.Start)}
		}))
		w.after(time.Second)
		w.expect(1, "")
	})
	t.Run("a budget decides, and the same pod is tried again", func(t *testing.T) {
		w := calm(t)
		w.blocked = true
		w.after(10 * time.Minute)
		w.expect(0, "a PodDisruptionBudget does not allow it now")
		w.lead() // Another leader continues.
		w.after(time.Second)
		w.expect(0, "a PodDisruptionBudget does not allow it now")
		w.blocked = false
		w.after(time.Minute)
		w.expect(1, "")
	})
	t.Run("status has what was evicted, and what may be", func(t *testing.T) {
		w := calm(t)
		expect := func(when, evicted string, waiting int) {
			t.Helper()
			var names []string
			done, waits := w.mover.Moved()
			for _, e := range done {
				names = append(names, e.Pod)
			}
			if got := strings.Join(names, " "); got != evicted || waits != waiting {
				t.Errorf("%s: %q evicted, %d waiting; want %q, %d", when, got, waits, evicted, waiting)
			}
		}
		w.after(time.Minute)
		expect("at first", "", 1)
		w.blocked = true
		w.after(10 * time.Minute)
		expect("while the budget forbids it", "", 1)
		w.blocked = false
		w.after(10 * time.Minute)
		expect("afterwards", "web-1", 0)
		w.after(time.Hour)
		expect("after an hour", "", 0)
	})
	t.Run("the pods of a node without room for all say so", func(t *testing.T) {
		w := calm(t)
		w.full["n0"] = false
		w.resize()
		w.plan()
		w.mover.Headroom = shortNodes{"n0": true}
		w.mover.NodeChanged("n0")
		w.after(time.Second)
		w.expect(0, "it may be evicted from 20")
		clustertest.Clock(w.cluster).Step(10 * time.Minute)
		w.expect(0, "it may be evicted, because its node lacks 1 cpu for what its pods need together")
		if said := w.mover.Explain(w.cluster.Pods("shop").Get("web-2")); said != "" {
			t.Errorf("a pod on another node says %q", said)
		}
		w.settle(policy.Eviction{})
		w.expect(0, "")
	})
	t.Run("a pod is tried again as soon as a budget permits more", func(t *testing.T) {
		w := calm(t)
		w.blocked = true
		for range 10 {
			w.after(10 * time.Minute)
		}
		w.blocked = false
		w.mover.BudgetEased("other")
		w.after(time.Second)
		w.expect(0, "a PodDisruptionBudget does not allow it now")
		w.mover.BudgetEased("shop")
		select {
		case <-w.mover.wake:
		default:
			t.Error("the leader does not look")
		}
		w.after(time.Second)
		w.expect(1, "")
	})
	for _, tc := range []struct {
		name   string
		change func(*corev1.Pod)
		world  func(*world)
		said   string
	}{
		{"the last ready pod stays", on("web-2", func(p *corev1.Pod) { ready(p, false) }), nil, "no other pod of its workload is ready"},
		{"a pod that its rank keeps stays", podtest.Annotated("eviction-rank", "never"), nil, "it is not evicted: its rank is never, as its annotation workload-resizer.io/eviction-rank says"},
		{"a pod that a rule ranks as never stays", nil, func(w *world) { w.settle(policy.Eviction{Enabled: true, Rank: "never"}) }, "it is not evicted: its rank is never, as eviction.rank says"},
		{"a pod with an invalid rank stays", podtest.Annotated("eviction-rank", "soon"), nil, `its annotation workload-resizer.io/eviction-rank is "soon", but must be one of low, medium, high, never`},
		{"a pod that fits nowhere stays", nil, func(w *world) { w.full["n1"] = true }, "1 of 1 other nodes: too little cpu"},
		{"a pod with local data stays", on("web-1", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}), nil, "its volume data would be lost (emptyDir)"},
		{"evictions are off by default", nil, func(w *world) { w.settle(policy.Eviction{}) }, "eviction.enabled is false"},
		{"a freeze stops all evictions", nil, func(w *world) { w.cluster.Holds = clustertest.Frozen(hold.Freeze{}) }, "the cluster is frozen"},
		{"a pause stops evictions", nil, func(w *world) {
			w.cluster.Holds = clustertest.Holding(hold.Hold{Kind: hold.Pause, Scope: hold.Scope{Namespace: "shop"}})
		}, "a Pause of "},
		{"a freeze that the watch has not seen stops evictions", nil, func(w *world) { w.frozen = true }, "it is not evicted: the cluster is frozen"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			change := tc.change
			if change == nil {
				change = func(*corev1.Pod) {}
			}
			w := calm(t, change)
			w.plan()
			if tc.world != nil {
				tc.world(w)
				w.resize()
			}
			clustertest.Clock(w.cluster).Step(10 * time.Minute)
			w.mover.look(klog.NewContext(t.Context(), klog.Logger{}))
			w.expect(0, tc.said)
			if string(w.stored) != "[]" {
				t.Errorf("stored %s", w.stored)
			}
		})
	}
	t.Run("nothing says that a pod may move that its rank keeps", func(t *testing.T) {
		for rank, why := range map[string]string{"never": "its rank is never", "soon": "its annotation "} {
			w := calm(t, podtest.Annotated("eviction-rank", rank))
			w.after(time.Minute)
			w.expect(0, "it is not evicted: "+why)
			if _, waiting := w.mover.Moved(); waiting != 0 {
				t.Errorf("%s: %d pods may be evicted", rank, waiting)
			}
		}
	})
	t.Run("another pod stays until as many pods are ready as before the eviction", func(t *testing.T) {
		w := calm(t)
		third := func(is bool) {
			p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", "web-3", "n1"))
			p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "web", "rs-web"
			ready(p, is)
			w.put(p)
		}
		third(false)
		w.blocked = true
		w.after(10 * time.Minute)
		third(true) // Since it was decided to evict web-1, one more is ready.
		w.blocked = false
		w.after(time.Minute)
		w.expect(1, "")
		next := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", "web-4", "n0"))
		next.OwnerReferences[0].Name, next.OwnerReferences[0].UID = "web", "rs-web"
		ready(next, false)
		w.put(next)
		w.full = map[string]bool{"n1": true}
		w.resize()
		w.after(0)
		w.after(20 * time.Minute)
		w.expect(1, "")
		ready(next, true)
		w.put(next)
		w.after(10 * time.Minute)
		w.expect(2, "")
	})
	t.Run("a dry run does nothing", func(t *testing.T) {
		w := calm(t)
		config := w.mover.Config
		config.DryRun = true
		w.mover = New(config)
		w.plan()
		w.after(10 * time.Minute)
		w.expect(0, "it would be evicted, but the server runs with --dry-run")
		if string(w.stored) != "[]" {
			t.Errorf("stored %s", w.stored)
		}
	})
	t.Run("the pod with the largest rest of what its node lacks moves, and no other once the node has enough", func(t *testing.T) {
		w := calm(t)
		w.full["n0"] = false
		w.resize()
		for _, name := range []string{"api-1", "api-2", "job-1", "job-2"} {
			p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", name, "n0"))
			p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = name[:3], types.UID("rs-"+name[:3])
			ready(p, true)
			w.put(p)
		}
		// The pods of api use more memory than their node has.
		known := &rests{lacks: node.Resources{Memory: 500}, inUse: true, of: map[string]node.Resources{"web-1": {CPU: 300, Memory: 3}, "api-1": {Memory: 2}, "api-2": {Memory: 4}}}
		w.mover.Headroom = known
		w.after(time.Hour)
		w.expect(0, "")
		w.mover.NodeChanged("n0")
		w.after(time.Second)
		expect := func(evicted int, when string) {
			t.Helper()
			if w.evicted != evicted {
				t.Errorf("%s: %d pods were evicted, want %d", when, w.evicted, evicted)
			}
		}
		expect(1, "a node lacks memory")
		if w.cluster.Pods("shop").Get("api-2") != nil {
			t.Error("api-2 stays")
		}
		for range 10 {
			w.after(time.Second)
		}
		expect(1, "the pod is not replaced yet")
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", "api-3", "n1"))
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "api", "rs-api"
		ready(p, true)
		w.put(p)
		w.after(leastPause)
		expect(2, "it is")
		known.lacks = node.Resources{} // Nothing says so.
		w.after(time.Hour)
		expect(2, "the node has enough")
	})
	t.Run("a pod stays for a while on a node that lacks room for what is not in use", func(t *testing.T) {
		w := calm(t)
		w.full["n0"] = false
		w.resize()
		w.mover.Headroom = &rests{lacks: node.Resources{CPU: 500}, of: map[string]node.Resources{"web-1": {CPU: 300}}}
		w.mover.NodeChanged("n0")
		w.after(time.Second)
		w.after(10*time.Minute - time.Second)
		w.expect(0, "it may be evicted from 20")
		w.after(time.Second)
		w.expect(1, "")
	})
	t.Run("a pod stays if one in another namespace needs more of what their node lacks, even if that one never moves", func(t *testing.T) {
		for need, want := range map[int64]int{299: 1, 300: 1, 301: 0} {
			w := calm(t)
			w.full["n0"] = false
			w.resize()
			p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("bank", "db-1", "n0"), podtest.Annotated("eviction-rank", "never"))
			p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "db", "rs-db"
			ready(p, true)
			w.put(p)
			w.mover.Headroom = &rests{lacks: node.Resources{Memory: 500}, inUse: true, of: map[string]node.Resources{"web-1": {CPU: 900, Memory: 300}, "db-1": {Memory: need}}}
			w.mover.NodeChanged("n0")
			w.after(time.Second)
			if w.evicted != want {
				t.Errorf("%d is the rest of the other pod: %d pods were evicted, want %d", need, w.evicted, want)
			}
		}
	})
}

// rests is a Headroom: what n0 lacks, and the rests of pods.
type rests struct {
	// unused means that what is in use is what pods use most of the time.
	unknown, inUse, unused bool
	lacks                  node.Resources
	of                     map[string]node.Resources
}

// Known implements Headroom.
func (r *rests) Known() bool { return !r.unknown }

// Lacks implements Headroom.
func (r *rests) Lacks(name string) (lacks node.Resources, inUse bool) {
	if name == "n0" {
		return r.lacks, r.inUse
	}
	return lacks, false
}

// Rest implements Headroom.
func (r *rests) Rest(of *pod.Pod, lacks node.Resources, inUse bool) (most int64) {
	if inUse && r.unused {
		return 0
	}
	for _, m := range sizing.Measures {
		if lacks == (node.Resources{}) || lacks.Of(m) > 0 {
			most = max(most, r.of[of.Name].Of(m))
		}
	}
	return most
}
