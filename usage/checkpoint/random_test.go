package checkpoint

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestRandomReplicas lets replicas lead, fail, restart and lose answers at random. The number of shards
// grows and shrinks. In the end, everything that the source has measured counts once.
func TestRandomReplicas(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			c := newCluster(t)
			random := rand.New(rand.NewPCG(seed, 1))
			var one sync.Mutex // ConfigMaps are read concurrently.
			chance := func(of int) bool {
				one.Lock()
				defer one.Unlock()
				return random.IntN(of) == 0
			}
			start := func() *replica {
				r := c.replica()
				r.full = 2000
				sometimes := func(of int) func(string) error {
					return func(string) error {
						if chance(of) {
							return errors.New("down")
						}
						return nil
					}
				}
				recorder := c.record(r)
				recorder.fail, recorder.lose = sometimes(150), sometimes(6)
				return r
			}
			replicas := []*replica{start(), start(), start()}
			for minute := range 60 {
				at := c.clock.Now().Add(-time.Minute)
				c.source.samples = append(c.source.samples, sampled(30, at)...)
				if i := random.IntN(len(replicas)); chance(8) {
					replicas[i] = start()
				} else if chance(8) {
					for _, r := range replicas {
						// A replica may not know yet that another one leads.
						r.leading = r == replicas[i] || r.leading && chance(3)
						r.full = []int{1000, 2000, 8000}[minute/10%3]
					}
				}
				for range 6 {
					for _, r := range replicas {
						c.step(r)
					}
					c.clock.Step(10 * time.Second)
				}
				for _, r := range replicas {
					if r.leading && r.CaughtUp() && !chance(5) {
						if err := r.store.Collect(t.Context(), &c.source, began.Add(-time.Hour), c.clock.Now()); err != nil {
							t.Error(err)
						}
					}
				}
			}
			for _, r := range replicas {
				r.leading = r == replicas[0]
				c.record(r)
			}
			c.pass(replicas[0], time.Minute)
			if !replicas[0].CaughtUp() {
				t.Fatal(replicas[0].Status().Err)
			}
			want := newStore()
			if err := want.Collect(t.Context(), &c.source, began.Add(-time.Hour), c.clock.Now()); err != nil {
				t.Error(err)
			}
			if err := replicas[0].store.Collect(t.Context(), &c.source, began.Add(-time.Hour), c.clock.Now()); err != nil {
				t.Error(err)
			}
			c.equal(replicas[0].store, want)
			c.clock.Step(Interval)
			c.pass(replicas[0], 2*Interval)
			c.same(c.loaded(), replicas[0].store)
		})
	}
}
