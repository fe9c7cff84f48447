package mover

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
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
	t.Run("it moves at once when more is in use than its node has", func(t *testing.T) {
		w, known := shortOf(t)
		for range 20 {
			w.after(10 * time.Minute)
		}
		free(w)
		known.lacks, known.inUse = node.Resources{Memory: 500}, true
		w.after(time.Second)
		w.expect(1, "")
	})
	t.Run("it moves at once after a kill for lack of memory", func(t *testing.T) {
		w := calm(t)
		w.full["n1"] = true
		w.resize()
		for range 20 {
			w.after(10 * time.Minute)
		}
		w.expect(0, full)
		p := w.objects["web-1"].DeepCopy()
		podtest.WithStatus(podtest.Amounts{"1", "", "512Mi", ""}, podtest.Amounts{"1", "", "512Mi", ""})(p)
		p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "OOMKilled", FinishedAt: metav1.NewTime(w.cluster.Clock.Now())}
		w.put(p)
		w.full["n1"] = false
		w.resize()
		w.after(time.Second)
		w.expect(1, "")
	})
}

// TestShortNodes looks at what is said of pods on nodes that lack room for what their pods need together.
func TestShortNodes(t *testing.T) {
	t.Run("they wait, in status, as long as nothing has moved", func(t *testing.T) {
		w, known := shortOf(t)
		if _, waiting := w.mover.Moved(); waiting != 1 {
			t.Errorf("%d pods wait, want 1", waiting)
		}
		known.of["web-1"] = node.Resources{}
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
		w.expect(0, "it is not evicted: a pod in another namespace needs more of what their node lacks")
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

func TestProblem(t *testing.T) {
	w := calm(t)
	evict := w.mover.Evict
	w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-1", errors.New("no right"))
	}
	w.after(10 * time.Minute)
	for range 10 { // It is not tried each time.
		w.after(time.Second)
		if err := w.mover.Problem(); !errors.Is(err, errRefused) {
			t.Fatalf("the problem is %v", err)
		}
	}
	w.mover.Evict = evict
	w.after(lastRetry)
	w.expect(1, "")
	if err := w.mover.Problem(); err != nil {
		t.Errorf("the problem is still %v", err)
	}
}

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

// TestComing lets a pod be evicted again whose eviction failed: it does not take the room of itself.
func TestComing(t *testing.T) {
	w := calm(t)
	evict := w.mover.Evict
	w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error { return errors.New("no answer") }
	w.after(10 * time.Minute)
	w.expect(0, "no answer")
	w.mover.Evict = evict
	w.roomOf("n1", "2300m") // One more pod needs 1250m.
	w.after(2 * time.Second)
	w.expect(1, "")
}
