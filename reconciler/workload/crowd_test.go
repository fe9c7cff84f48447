package workload_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Three pods of a crowd may have a smaller size for five minutes. Pods got it at second 10.
func TestPlacesInACrowd(t *testing.T) {
	later := func(p *corev1.Pod) { p.ManagedFields[1] = podtest.ResizeOf(50, "app") }
	deleted := func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(podtest.At(50))) }
	finished := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	raised := record("app 3 cpu 250m/250m>500m/500m memory 256Mi/256Mi>512Mi/512Mi")
	for _, tc := range []struct {
		name   string
		pods   []*corev1.Pod
		now    int
		places int
		next   int
	}{
		{name: "no pod has it", places: 3},
		{name: "one pod has it", pods: []*corev1.Pod{resized()}, places: 2, next: 310},
		{name: "the first of two is observed for the shortest time", pods: []*corev1.Pod{resized(later), resized(), resized(later)}, next: 310},
		{name: "more pods than may have it", pods: []*corev1.Pod{resized(), resized(), resized(), resized()}, next: 310},
		{name: "a pod that has proven it", pods: []*corev1.Pod{resized(), resized(later)}, now: 310, places: 2, next: 350},
		{name: "a pod that is deleted", pods: []*corev1.Pod{resized(deleted)}, places: 3},
		{name: "a pod that has finished", pods: []*corev1.Pod{resized(finished)}, places: 3},
		{name: "a pod that got more", pods: []*corev1.Pod{resized(raised)}, places: 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &workload.Crowd{Pods: authored(10, 20), Most: 3, Within: 5 * time.Minute, Now: podtest.At(max(tc.now, 100))}
			for n, p := range tc.pods {
				c.Pods = append(c.Pods, sibling(n, p))
			}
			var want time.Time
			if tc.next != 0 {
				want = podtest.At(tc.next)
			}
			if places, next := c.Places(c.Pods[0]); places != tc.places || !next.Equal(want) {
				t.Errorf("%d places, the next at %v; want %d, %v", places, next, tc.places, want)
			}
		})
	}
	t.Run("the pod itself needs no second place", func(t *testing.T) {
		c := &workload.Crowd{Pods: []*pod.Pod{sibling(0, resized())}, Most: 1, Within: 5 * time.Minute, Now: podtest.At(100)}
		if places, _ := c.Places(c.Pods[0]); places != 1 {
			t.Errorf("%d places", places)
		}
	})
}

// Every tenth pod of a crowd may get a smaller size within a minute.
func TestCrowd(t *testing.T) {
	crowd := func(n int) *workload.Crowd {
		c := &workload.Crowd{Pods: authored(n/10, n), Most: n / 10, Within: time.Minute, Now: podtest.At(60)}
		for i := range c.Most {
			c.Pods = append(c.Pods, sibling(i, resized()))
		}
		return c
	}
	ask := func(t *testing.T, c *workload.Crowd, asks *pod.Pod) (next, again time.Time) {
		t.Helper()
		places, next := c.Places(asks)
		if places != 0 || !next.Equal(podtest.At(70)) {
			t.Fatalf("%d places, the next at %v", places, next)
		}
		return next, c.Again(asks, next)
	}
	t.Run("in a small crowd each pod asks for the next place", func(t *testing.T) {
		c := crowd(250)
		for _, asks := range c.Pods[:225] {
			if next, again := ask(t, c, asks); !again.Equal(next) {
				t.Fatalf("it asks at %v", again)
			}
		}
	})
	t.Run("in a large crowd few pods ask for each place", func(t *testing.T) {
		c := crowd(1000)
		// The other 900 pods take at least 9 minutes.
		asked, last := map[time.Time]int{}, time.Time{}
		for _, asks := range c.Pods[:900] {
			next, again := ask(t, c, asks)
			if again.Before(next) {
				t.Fatalf("it asks at %v, before there is a place", again)
			}
			if again.After(last) {
				last = again
			}
			asked[again.Truncate(time.Second)]++
			if _, same := ask(t, c, asks); !same.Equal(again) {
				t.Error("plans of the same pod differ")
			}
		}
		if wait := last.Sub(c.Now); wait > 45*time.Second || wait < 40*time.Second {
			t.Errorf("the last pod asks after %v", wait)
		}
		if far := podtest.At(1000); !c.Again(c.Pods[0], far).Equal(far) {
			t.Error("a pod asks before there is a place")
		}
		for second, n := range asked {
			if n > 100 {
				t.Errorf("%d pods ask at %v", n, second)
			}
		}
	})
}
