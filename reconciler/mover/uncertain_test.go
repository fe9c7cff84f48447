package mover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// TestUnansweredSuccessor loses the answer to an eviction, and tries no more. The pod runs on for hours, so that it was not evicted; the
// one that a rollout puts in its place may move.
func TestUnansweredSuccessor(t *testing.T) {
	w := calm(t)
	answers := w.mover.Evict
	w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error { return context.DeadlineExceeded }
	w.after(10 * time.Minute)
	w.frozen, w.mover.Evict = true, answers
	for range 12 {
		w.after(10 * time.Minute)
	}
	w.replace("web-1", "web-3")
	w.frozen = false
	for range 30 {
		w.after(time.Minute)
	}
	if w.evicted != 1 {
		t.Errorf("%d were evicted; web-3 says %q", w.evicted, w.mover.Explain(w.cluster.Pods("shop").Get("web-3")))
	}
}

// replace lets another pod run in the place of one.
func (w *world) replace(name, by string) {
	is := w.objects[name].DeepCopy()
	delete(w.objects, name)
	w.forget(pod.From(is))
	is.Name, is.UID = by, "shop/"+types.UID(by)
	w.put(is)
}

// TestFullForChosen lets a pod that was chosen wait because another namespace has had the hour: it has the next eviction, whenever its own
// next attempt is, and although ever more pods of the other one wait.
func TestFullForChosen(t *testing.T) {
	w := crowd(t)
	w.settle(policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: 2})
	w.pair("shop", "b", 0)
	w.resize()
	w.lead()
	answers, blocked := w.mover.Evict, true
	w.mover.Evict = func(ctx context.Context, p *corev1.Pod, permit func(context.Context) error) error {
		if p.Namespace == "shop" && blocked {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, p.Name, errors.New("a policy denied request"))
		}
		return answers(ctx, p, permit)
	}
	for range 60 {
		w.after(time.Minute)
	}
	w.pair("mine", "a", 1)
	w.pair("mine", "c", 2)
	w.resize()
	for range 30 {
		w.after(time.Minute)
	}
	if w.evicted != 2 {
		t.Fatalf("%d were evicted", w.evicted)
	}
	blocked = false
	for i := range 5 {
		for j, node := range []int{3, 4} {
			w.pair("mine", fmt.Sprintf("d%d-%d", i, j), node)
		}
		w.resize()
		for range 60 {
			w.after(time.Minute)
		}
	}
	if w.objects["b-0"] != nil {
		t.Errorf("b-0 says %q", w.mover.Explain(w.cluster.Pods("shop").Get("b-0")))
	}
}

// TestNoAnswer fails all attempts to evict a pod, because it changes right before, or nobody knows why: that keeps no other pod.
func TestNoAnswer(t *testing.T) {
	t.Run("it changes", func(t *testing.T) {
		staysForGood(t, "shop", apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "a-0", errors.New("changed")))
	})
	failed := apierrors.NewInternalError(errors.New("no reason"))
	t.Run("the API server fails", func(t *testing.T) { staysForGood(t, "shop", failed) })
	t.Run("the API server fails, and the other pod is in the same namespace", func(t *testing.T) { staysForGood(t, "mine", failed) })
}

func staysForGood(t *testing.T, others string, answer error) {
	w := crowd(t)
	w.settle(policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: 1})
	w.pair("mine", "a", 0)
	w.pair(others, "y", 1)
	w.resize()
	w.lead()
	answers, fails := w.mover.Evict, answer
	w.mover.Evict = func(ctx context.Context, p *corev1.Pod, permit func(context.Context) error) error {
		if p.Name == "a-0" {
			return fails
		}
		return answers(ctx, p, permit)
	}
	for range 6 * 60 {
		w.after(time.Minute)
	}
	if w.objects["y-0"] != nil {
		t.Errorf("y-0 says %q", w.mover.Explain(w.cluster.Pods(others).Get("y-0")))
	}
}

// TestLostAnswer loses the answer to an eviction that takes effect later, after the next one was refused: the cause has had its pod.
func TestLostAnswer(t *testing.T) {
	w := calm(t)
	calls := 0
	w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error {
		if calls++; calls != 2 {
			return context.DeadlineExceeded
		}
		w.replace("web-1", "web-3")
		return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "web-1")
	}
	for range 180 {
		w.after(time.Minute)
	}
	if calls != 2 || w.read().Of("shop/web-1") == nil {
		t.Errorf("%d calls; the book has %s", calls, w.stored)
	}
}

// TestSibling lets a second pod of a workload lack room on the same node, for which none but the first one may move: it keeps that one from
// no attempt.
func TestSibling(t *testing.T) {
	w := crowd(t)
	w.settle(policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: 1})
	w.pair("mine", "a", 0)
	p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("mine", "a-2", "n0"))
	p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "a", "rs-a"
	ready(p, true)
	w.put(p)
	w.resize()
	w.lead()
	calls := 0
	w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error {
		calls++
		return context.DeadlineExceeded
	}
	for range 6 * 60 {
		w.after(time.Minute)
	}
	if calls < 25 {
		t.Errorf("%d attempts in 6 hours", calls)
	}
}

// TestTurns orders pods that could not be evicted for an hour after those that were just chosen or are new, and lets them take turns.
func TestTurns(t *testing.T) {
	now := podtest.Start
	of := func(name string) *candidate {
		return &candidate{Candidate: evict.Candidate{UID: types.UID(name), Pod: name}}
	}
	entry := func(name string, chosen, at time.Duration) evict.Entry {
		return evict.Entry{UID: types.UID(name), Chosen: now.Add(-chosen), At: now.Add(-at)}
	}
	book := &evict.Book{Entries: []evict.Entry{entry("longest", 5*time.Hour, time.Minute), entry("long", 2*time.Hour, 9*time.Minute), entry("young", time.Minute, time.Second)}}
	all := []*candidate{of("longest"), of("long"), of("new"), of("young")}
	slices.SortFunc(all, func(a, b *candidate) int { return compare(now, book, a, b) })
	var got []string
	for _, c := range all {
		got = append(got, c.Pod)
	}
	if want := []string{"young", "new", "long", "longest"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLands loses the answer to an attempt for a pod that was chosen long ago: until it is seen whether it goes, no other pod leaves its
// node.
func TestLands(t *testing.T) {
	w := calm(t)
	g := &glance{Mover: w.mover, now: podtest.Start, must: map[types.UID]bool{}}
	e := &evict.Entry{Cause: evict.Cause{Namespace: "shop"}, Pod: "web-1", UID: "shop/web-1", Chosen: g.now.Add(-2 * time.Hour)}
	for ago, want := range map[time.Duration]bool{landsWithin - time.Second: true, landsWithin: false} {
		if e.At = g.now.Add(-ago); g.inProgress(e) != want || g.moving(e) != want {
			t.Errorf("%s after an attempt: moving %t, want %t", ago, g.moving(e), want)
		}
	}
}

// TestSaysUnsure says of a pod that goes that it may have been evicted, and when, if the answer was lost and the next attempt refused.
func TestSaysUnsure(t *testing.T) {
	w := calm(t)
	calls := 0
	w.mover.Evict = func(_ context.Context, p *corev1.Pod, _ func(context.Context) error) error {
		if calls++; calls == 1 {
			return context.DeadlineExceeded
		}
		return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, p.Name, errors.New("changed"))
	}
	w.after(10 * time.Minute)
	first := w.cluster.Clock.Now()
	w.after(10 * time.Minute)
	is := w.objects["web-1"].DeepCopy()
	is.DeletionTimestamp = &metav1.Time{Time: w.cluster.Clock.Now()}
	w.put(is)
	w.roomOf("n0", "64")
	w.after(time.Minute)
	w.after(time.Minute)
	want := "it may have been evicted at " + first.UTC().Format(time.RFC3339)
	if said := w.mover.Explain(w.cluster.Pods("shop").Get("web-1")); calls < 2 || !strings.HasPrefix(said, want) {
		t.Errorf("after %d calls, it says %q, want %q", calls, said, want)
	}
	if done, _ := w.mover.Moved(); len(done) != 1 || !done[0].Last().Equal(first) {
		t.Errorf("moved: %+v", done)
	}
}
