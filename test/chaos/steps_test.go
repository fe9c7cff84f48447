package chaos

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// killedAroundEachStep kills a process just before and just after each write. It checks
// the state at that time and what the next process writes.
func (s *suite) killedAroundEachStep(t *testing.T) { s.killedOn(t, journeys) }

func (s *suite) killedOn(t *testing.T, journeys []journey) {
	for i := range journeys {
		for n, step := range journeys[i].steps {
			for _, f := range []fate{lost, done} {
				t.Run(fmt.Sprintf("%s, %s %s", journeys[i].name, step, f), func(t *testing.T) { s.killedAt(t, &journeys[i], n, f) })
			}
		}
	}
}

func (s *suite) killedAt(t *testing.T, j *journey, n int, f fate) {
	w := newWorld(t, s.config, simpleTable("1.25"), j.nodeType)
	key := w.create(t, plain, "pod", &shapes[0], 0)
	w.awaitRunning(t)
	if j.sizedBefore {
		life := w.start(t, w.config, w.config)
		w.awaitAllRight(t, "before")
		life.stop(t)
	}
	if j.change != nil {
		j.change(w, hold.Scope{Namespace: key.Namespace, Pod: key.Name, UID: w.created[key].UID})
	}
	landed := n
	if f == done {
		landed++
	}
	first := &mortal{left: n + 1, fate: f, dead: make(chan struct{})}
	life := w.start(t, w.config, first.wrap(w.config))
	select {
	case <-first.dead:
	case <-time.After(localcluster.Patience):
		t.Fatal("the process did not reach the write at which it is killed")
	}
	life.stop(t)
	if want := j.steps[:n+1]; !slices.Equal(slices.Compact(slices.Clone(first.wrote)), want) {
		t.Errorf("the process wrote %v before it died, want %v", first.wrote, want)
	}
	w.checkState(t, key, j.states[landed])

	second := &mortal{left: -1}
	life = w.start(t, w.config, second.wrap(w.config))
	w.awaitAllRight(t, "at the end")
	life.stop(t)
	// If the kubelet writes between two steps, one of them is written twice.
	if want := j.steps[landed:]; !slices.Equal(slices.Compact(slices.Clone(second.wrote)), want) {
		t.Errorf("the next process wrote %v, want %v", second.wrote, want)
	}
	w.checkState(t, key, j.states[len(j.steps)])
}
