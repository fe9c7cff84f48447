package guard_test

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// Every tenth pod of a crowd may get a smaller size within a minute.
func TestCrowd(t *testing.T) {
	crowd := func(n int) *guard.Crowd {
		c := &guard.Crowd{Pods: authored(n/10, n), Most: n / 10, Within: time.Minute, Now: podtest.At(60)}
		for i := range c.Most {
			c.Pods = append(c.Pods, sibling(i, resized()))
		}
		return c
	}
	ask := func(t *testing.T, c *guard.Crowd, asks *pod.Pod) (next, again time.Time) {
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
		for second, n := range asked {
			if n > 100 {
				t.Errorf("%d pods ask at %v", n, second)
			}
		}
	})
}
