package mover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// shortOf returns a world in which no pod lacks anything, but n0 lacks room for what web-1 may need, and no other node has room.
func shortOf(t *testing.T) (*world, *rests) {
	w := calm(t)
	w.full = map[string]bool{}
	w.resize()
	w.roomOf("n1", "1900m")
	known := &rests{lacks: node.Resources{CPU: 500}, of: map[string]node.Resources{"web-1": {CPU: 300, Memory: 300}}}
	w.mover.Headroom = known
	w.mover.NodeChanged("n0")
	w.after(time.Second)
	return w, known
}

// TestAgain lets pods wait until it is tried again to move them, and then changes why they must move.
func TestAgain(t *testing.T) {
	const full = "1 of 1 other nodes: too little cpu"
	free := func(w *world) {
		w.full = map[string]bool{}
		w.resize()
	}
	t.Run("a pod waits longer each time", func(t *testing.T) {
		w, _ := shortOf(t)
		for range 20 {
			w.after(10 * time.Minute)
		}
		w.expect(0, full)
		free(w)
		w.after(9 * time.Minute)
		w.expect(0, full)
		w.after(time.Minute)
		w.expect(1, "")
	})
	t.Run("it moves immediately when more is in use than its node has", func(t *testing.T) {
		w, known := shortOf(t)
		for range 20 {
			w.after(10 * time.Minute)
		}
		free(w)
		known.lacks, known.inUse = node.Resources{Memory: 500}, true
		w.after(time.Second)
		w.expect(1, "")
	})
	t.Run("it moves, too, if no pod uses more than it does most of the time", func(t *testing.T) {
		w, known := shortOf(t)
		free(w)
		known.lacks, known.inUse, known.unused = node.Resources{Memory: 500}, true, true
		w.after(time.Second)
		w.expect(1, "")
	})
	t.Run("it moves immediately after each kill for lack of memory", func(t *testing.T) {
		w := calm(t)
		w.full["n1"] = true
		w.resize()
		for range 20 {
			w.after(10 * time.Minute)
		}
		w.expect(0, full)
		kill := func() {
			p := w.objects["web-1"].DeepCopy()
			podtest.WithStatus(podtest.Amounts{"1", "", "512Mi", ""}, podtest.Amounts{"1", "", "512Mi", ""})(p)
			p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "OOMKilled", FinishedAt: metav1.NewTime(w.cluster.Clock.Now())}
			w.put(p)
		}
		kill()
		for range 40 * 60 {
			w.after(time.Second)
		}
		w.expect(0, full)
		kill()
		w.full["n1"] = false
		w.resize()
		w.after(time.Second)
		w.expect(1, "")
	})
	t.Run("it never moves before the API server wants to be asked again", func(t *testing.T) {
		w, known := shortOf(t)
		free(w)
		calls := 0
		w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error {
			calls++
			return &actuate.BusyError{Err: apierrors.NewTooManyRequests("slow down", 300), Asked: 5 * time.Minute}
		}
		w.after(10 * time.Minute)
		known.lacks, known.inUse = node.Resources{Memory: 500}, true
		for range 299 {
			w.after(time.Second)
		}
		if calls != 1 {
			t.Errorf("%d calls within 5 minutes", calls)
		}
		if w.after(time.Second); calls != 2 {
			t.Errorf("%d calls after 5 minutes", calls)
		}
	})
	t.Run("it waits if what was in use no longer is", func(t *testing.T) {
		w, known := calm(t), &rests{lacks: node.Resources{Memory: 500}, inUse: true, of: map[string]node.Resources{"web-1": {CPU: 300}}}
		free(w)
		w.mover.Headroom = known
		w.mover.NodeChanged("n0")
		for range 10 {
			w.after(time.Minute)
		}
		w.expect(0, "")
		known.lacks, known.inUse = node.Resources{CPU: 500}, false
		w.after(time.Second)
		w.expect(0, "it may be evicted from")
	})
	t.Run("it does not wait again after a moment in which more was in use", func(t *testing.T) {
		w, known := shortOf(t)
		free(w)
		known.of["web-1"] = node.Resources{CPU: 300}
		w.after(8 * time.Minute)
		known.lacks, known.inUse = node.Resources{Memory: 500}, true
		w.after(time.Second)
		known.lacks, known.inUse = node.Resources{CPU: 500}, false
		w.after(time.Second)
		w.after(2 * time.Minute)
		w.expect(1, "")
	})
	t.Run("it moves immediately when it begins to use what its node lacks", func(t *testing.T) {
		w, known := shortOf(t)
		for range 20 {
			w.after(10 * time.Minute)
		}
		free(w)
		known.of["web-1"] = node.Resources{CPU: 300}
		known.lacks, known.inUse = node.Resources{Memory: 500}, true
		w.after(time.Second)
		known.of["web-1"] = node.Resources{Memory: 300}
		w.after(time.Second)
		w.expect(1, "")
	})
	t.Run("it waits longer each time, even if a budget permits more again and again", func(t *testing.T) {
		w := calm(t)
		w.blocked = true
		for range 10 {
			w.after(10 * time.Minute)
		}
		w.full["n1"] = true
		w.resize()
		w.mover.BudgetEased("shop")
		w.after(time.Second)
		w.expect(0, full)
		if r := w.mover.retries["shop/web-1"]; r.at.Sub(w.cluster.Clock.Now()) < lastRetry/2 {
			t.Errorf("it is tried again at %s", r.at)
		}
	})
	t.Run("it moves for one cause if another pod was chosen for its other one", func(t *testing.T) {
		w := calm(t)
		w.after(10 * time.Minute)
		w.expect(1, "")
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", "web-3", "n0"))
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "web", "rs-web"
		ready(p, true)
		w.put(p)
		w.resize()
		w.after(time.Second)
		w.after(2 * time.Hour)
		w.expect(1, "")
		w.mover.Headroom = &rests{lacks: node.Resources{Memory: 500}, inUse: true, of: map[string]node.Resources{"web-3": {Memory: 300}}}
		w.mover.NodeChanged("n0")
		w.after(time.Second)
		w.after(lastRetry)
		w.expect(2, "")
	})
	t.Run("it moves as soon as more may within an hour", func(t *testing.T) {
		w := crowd(t)
		w.settle(policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: 1})
		w.pair("shop", "a", 0)
		w.pair("shop", "b", 1)
		w.resize()
		w.lead()
		w.after(10 * time.Minute)
		w.expect(1, "")
		w.settle(policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: 4})
		w.after(time.Second)
		w.expect(2, "")
	})
	t.Run("nodes that are gone are forgotten while nothing may be evicted", func(t *testing.T) {
		w := calm(t)
		w.settle(policy.Eviction{})
		w.mover.Headroom = &rests{}
		for _, name := range []string{"n0", "gone"} {
			w.mover.NodeChanged(name)
		}
		if w.after(time.Second); len(w.mover.changed) != 1 {
			t.Errorf("%v", w.mover.changed)
		}
	})
	t.Run("a node is asked again while nothing moves", func(t *testing.T) {
		w, _ := shortOf(t)
		w.cluster.Holds = clustertest.Frozen(hold.Freeze{})
		now := w.cluster.Clock.Now()
		if next := w.mover.look(klog.NewContext(t.Context(), klog.Logger{})); next.After(now.Add(mostPause)) {
			t.Errorf("not before %s", next.Sub(now))
		}
	})
	t.Run("it moves if evictions are permitted only after its node began to lack room", func(t *testing.T) {
		w := calm(t)
		free(w)
		w.settle(policy.Eviction{After: 10 * time.Minute, MaxPerHour: most})
		w.mover.Headroom = &rests{lacks: node.Resources{CPU: 500}, of: map[string]node.Resources{"web-1": {CPU: 300}}}
		w.mover.NodeChanged("n0")
		w.after(time.Second)
		w.settle(policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: most})
		w.after(time.Second)
		w.expect(0, "it may be evicted from")
		w.after(10 * time.Minute)
		w.expect(1, "")
	})
	t.Run("a pod that lacks room itself on a node that lacks some for all is one pod", func(t *testing.T) {
		w := calm(t)
		w.mover.Headroom = &rests{lacks: node.Resources{CPU: 500}, of: map[string]node.Resources{"web-1": {CPU: 300}}}
		w.mover.NodeChanged("n0")
		w.after(time.Second)
		w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error {
			w.evicted++
			return nil // The cache does not show it yet.
		}
		w.after(11 * time.Minute)
		w.expect(1, "it was evicted at 2026")
	})
}

// TestToggles lets what is in use of two nodes rise above what they have, and fall again, all the time. Their many pods can go nowhere, and
// would move first: a pod elsewhere is judged anyway.
func TestToggles(t *testing.T) {
	w := &world{T: t, objects: map[string]*corev1.Pod{}, full: map[string]bool{"n1": true}, stored: []byte("[]")}
	w.begin(4)
	for i, on := range []string{"n1", "n2"} {
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", fmt.Sprint("web-", i+1), on))
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "web", "rs-web"
		ready(p, true)
		w.put(p)
	}
	h := &toggling{}
	for i := range 200 {
		p := podtest.Pod(podtest.Amounts{"10m", "", "1Mi", ""}, clustertest.Named("evil", fmt.Sprint("evil-", i), []string{"n0", "n3"}[i%2]), podtest.Annotated("eviction-rank", "low"))
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "evil", "rs-evil"
		p.Spec.NodeSelector = map[string]string{"no": "node"}
		ready(p, true)
		w.put(p)
	}
	w.resize()
	w.lead()
	w.mover.Headroom = h
	clustertest.Clock(w.cluster).Step(10*time.Minute - time.Second)
	for s := range 300 {
		h.off = map[int]string{15: "n0", 29: "n3"}[s%30]
		w.mover.NodeChanged("n0")
		w.mover.NodeChanged("n3")
		if w.after(time.Second); w.evicted > 0 {
			return
		}
	}
	t.Error("nothing was evicted within five minutes")
}

// toggling is a Headroom in which more is in use than n0 and n3 have, except for off.
type toggling struct{ off string }

// Known implements Headroom.
func (*toggling) Known() bool { return true }

// Lacks implements Headroom.
func (h *toggling) Lacks(name string) (lacks node.Resources, inUse bool) {
	if name == h.off || name != "n0" && name != "n3" {
		return lacks, false
	}
	return node.Resources{Memory: 500}, true
}

// Rest implements Headroom.
func (*toggling) Rest(of *pod.Pod, _ node.Resources, _ bool) int64 {
	return int64(len(of.Namespace()) - 3)
}

// TestShortNodes looks at what is said of pods on nodes that lack room for what their pods need together.
func TestShortNodes(t *testing.T) {
	t.Run("they wait, in status, as long as nothing has moved", func(t *testing.T) {
		w, known := shortOf(t)
		if _, waiting := w.mover.Moved(); waiting != 1 {
			t.Errorf("%d pods wait, want 1", waiting)
		}
		known.of["web-1"] = node.Resources{}
		w.after(time.Second)
		if _, waiting := w.mover.Moved(); waiting != 0 {
			t.Errorf("%d pods wait, want 0", waiting)
		}
	})
	t.Run("a pod that lacks room itself does not wait on a node of which more is in use than it has", func(t *testing.T) {
		w := calm(t)
		w.mover.Leader = follower{}
		w.after(time.Second)
		w.expect(0, "it may be evicted from 20")
		w.mover.Headroom = &rests{lacks: node.Resources{Memory: 500}, inUse: true, of: map[string]node.Resources{"web-1": {Memory: 300}}}
		w.mover.NodeChanged("n0")
		w.after(time.Second)
		w.expect(0, "it is evicted if another node has room for it; the leader decides")
	})
	t.Run("a pod that is gone does not wait", func(t *testing.T) {
		w, _ := shortOf(t)
		going := w.objects["web-1"].DeepCopy()
		going.DeletionTimestamp = &metav1.Time{Time: w.cluster.Clock.Now()}
		w.put(going)
		if _, waiting := w.mover.Moved(); waiting != 0 {
			t.Errorf("%d pods wait, want 0", waiting)
		}
		w.forget(w.cluster.Pods("shop").Get("web-1"))
		if _, waiting := w.mover.Moved(); waiting != 0 {
			t.Errorf("%d pods wait, want 0", waiting)
		}
	})
	t.Run("a pod says that one in another namespace needs more", func(t *testing.T) {
		w, known := shortOf(t)
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("bank", "db-1", "n0"))
		ready(p, true)
		w.put(p)
		known.of["db-1"] = node.Resources{CPU: 301}
		w.after(time.Second)
		w.expect(0, "it is not evicted: pods in another namespace need more of what their node lacks")
		if _, waiting := w.mover.Moved(); waiting != 1 {
			t.Errorf("%d pods wait, want 1: db-1", waiting)
		}
	})
	t.Run("what is not known yet does not end a cause", func(t *testing.T) {
		w, _ := shortOf(t)
		w.blocked, w.full = true, map[string]bool{}
		w.resize()
		w.after(10 * time.Minute)
		w.expect(0, "a PodDisruptionBudget does not allow it now")
		for _, unknown := range []bool{true, false} {
			w.lead() // It has been told nothing yet.
			w.mover.Headroom = &rests{unknown: unknown}
			w.after(time.Second)
			if e := w.read().Entries; len(e) != 1 || e[0].Cleared.IsZero() != unknown {
				t.Errorf("it is not known what nodes lack: %t; the book has %+v", unknown, e)
			}
		}
	})
}

// follower is a Leader: another replica leads.
type follower struct{}

// Leading implements Leader.
func (follower) Leading() bool { return false }

// Watch implements Leader.
func (follower) Watch() <-chan struct{} { return nil }

// TestHalf lets a pod of another namespace wait until one of its workload has moved, and longer than those of a namespace that has had
// half of the hour.
func TestHalf(t *testing.T) {
	w := crowd(t)
	for i, name := range []string{"a", "b", "c"} {
		w.pair("mine", name, i)
	}
	w.pair("shop", "y", 4)
	p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", "y-2", "n3"))
	p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "y", "rs-y"
	ready(p, true)
	w.put(p)
	w.resize()
	w.lead()
	expect := func(want ...string) {
		t.Helper()
		var moved []string
		for _, e := range w.read().Entries {
			moved = append(moved, e.Pod)
		}
		if !slices.Equal(moved, want) {
			t.Errorf("moved %v, want %v", moved, want)
		}
	}
	w.after(10 * time.Minute)
	expect("a-0", "b-0", "y-0")
	w.mover.retrying("shop/y-2", func(r *retry) { r.at = w.cluster.Clock.Now().Add(5 * time.Second) })
	w.after(2 * time.Second)
	expect("a-0", "b-0", "y-0")
	delete(w.objects, "y-2")
	w.forget(w.cluster.Pods("shop").Get("y-2"))
	w.after(2 * time.Second) // Nobody else waits.
	expect("a-0", "b-0", "y-0", "c-0")
}

// TestHalfOfFull lets a pod of another namespace wait for long because the hour is full: it comes before the one of a namespace that has
// had half of it, and that does not wait yet.
func TestHalfOfFull(t *testing.T) {
	w := crowd(t)
	w.pair("shop", "x", 0)
	w.resize()
	w.lead()
	w.after(10 * time.Minute)
	w.pair("mine", "a", 1)
	w.pair("mine", "b", 2)
	w.resize()
	w.after(time.Second)
	w.after(10 * time.Minute)
	w.pair("shop", "y", 3)
	w.pair("shop", "z", 4)
	w.resize()
	w.after(time.Second)
	w.after(10 * time.Minute)
	for range 29*60 + 59 {
		w.after(time.Second)
	}
	w.pair("mine", "c", 0) // It may move right after x-0 no longer counts.
	w.resize()
	for range 10*60 + 30 {
		w.after(time.Second)
	}
	if e := w.read().Entries; e[len(e)-1].Pod != "z-0" {
		t.Errorf("%+v", e)
	}
}

// TestScaledDown lets a workload lose pods after one was evicted and replaced: that takes no room, and keeps no other pod where it is.
func TestScaledDown(t *testing.T) {
	w := crowded(t)
	w.after(10 * time.Minute)
	gone, other := "web", "api-1"
	if w.objects["api-1"] == nil {
		gone, other = "api", "web-1"
	}
	p := w.pending()
	p.Spec.NodeName = "n2"
	ready(p, true)
	w.put(p)
	w.after(time.Second)
	if w.evicted != 1 || w.objects[other] == nil {
		t.Fatalf("%d pods were evicted; %s is gone: %t", w.evicted, other, w.objects[other] == nil)
	}
	for _, name := range []string{gone + "-2", gone + "-3"} {
		is := w.cluster.Pods("shop").Get(name)
		delete(w.objects, name)
		w.forget(is)
	}
	w.roomOf("n2", "6")
	for range 5 {
		w.after(time.Minute)
	}
	if w.evicted != 2 {
		t.Errorf("%d pods were evicted, want 2: %s stays", w.evicted, w.mover.Explain(w.cluster.Pods("shop").Get(other)))
	}
}

// TestTwoLeaders lets a replica lead again after another one has evicted a pod: what it knew of that pod is outdated.
func TestTwoLeaders(t *testing.T) {
	w := crowded(t)
	w.blocked = true
	w.after(10 * time.Minute)
	first := w.mover
	w.blocked = false
	w.lead()
	w.after(2 * time.Second)
	w.mover, first.doubtful = first, true
	w.plan()
	for range 8 {
		w.after(20 * time.Second)
	}
	if w.evicted != 1 {
		t.Errorf("%d pods were evicted into the room of one", w.evicted)
	}
}

// TestComing lets a pod be evicted again whose eviction failed: it does not take the room of itself.
func TestComing(t *testing.T) {
	w := calm(t)
	answers := w.mover.Evict
	w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error { return errors.New("no answer") }
	w.after(10 * time.Minute)
	w.expect(0, "no answer")
	w.mover.Evict = answers
	w.roomOf("n1", "2300m") // One more pod needs 1250m.
	w.after(2 * time.Second)
	w.expect(1, "")
}
