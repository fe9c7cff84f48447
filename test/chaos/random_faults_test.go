package chaos

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// dice makes one request in five fail.
type dice struct {
	mu     sync.Mutex
	random *rand.Rand
	// failed counts failures by request and by how it failed. requests counts all
	// requests.
	failed   map[string]int
	requests int
	// spared is how many requests of a path succeed next. Reflectors wait for up to a minute after each failure: a list and
	// watches that fail in turn would keep a process from seeing anything for longer than any test waits.
	spared map[string]int
}

func newDice(r *rand.Rand) *dice {
	return &dice{random: rand.New(rand.NewPCG(r.Uint64(), 0)), failed: map[string]int{}, spared: map[string]int{}}
}

func (d *dice) roll(what string, ways []localcluster.Action) localcluster.Action {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests++
	if d.random.IntN(5) > 0 {
		return localcluster.Forward
	}
	way := ways[d.random.IntN(len(ways))]
	d.failed[what+", "+way.String()]++
	return way
}

// failures returns the number of all failures.
func (d *dice) failures() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, failed := range d.failed {
		n += failed
	}
	return n
}

func (d *dice) onWrite(w localcluster.Write) localcluster.Action {
	return d.roll(stepOf(w.Subresource, w.Body), failures)
}

// onOther makes reads fail in the ways of reads. They do not hang, because nothing bounds
// a watch. After a failure, the next list and watch of the same path succeed.
func (d *dice) onOther(r *http.Request) localcluster.Action {
	if d.spares(r.URL.Path) {
		return localcluster.Forward
	}
	action := d.rollRead(isWatch(r))
	if action != localcluster.Forward {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.spared[r.URL.Path] = 2
	}
	return action
}

func (d *dice) spares(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.spared[path] == 0 {
		return false
	}
	d.spared[path]--
	d.requests++
	return true
}

func (d *dice) rollRead(watches bool) localcluster.Action {
	if watches {
		return d.roll("watch", []localcluster.Action{
			localcluster.CutBefore, localcluster.CutWhileForwarding, localcluster.ExpireWatch,
			localcluster.AnswerTooManyRequests, localcluster.AnswerInternalError,
		})
	}
	return d.roll("read", []localcluster.Action{
		localcluster.CutBefore, localcluster.ForwardThenCut, localcluster.AnswerForbidden,
		localcluster.AnswerTooManyRequests, localcluster.AnswerInternalError, localcluster.AnswerUnavailable,
	})
}

// oneCallInFiveFails changes the ratios while calls fail. In the end, all pods must be
// right, and no pod may ever have a size that no table gives.
func (s *suite) oneCallInFiveFails(t *testing.T) {
	r := random(t)
	w := newWorld(t, s.config, randomTable(r), "n2d", "n4", "c3")
	w.createMixed(t, mixedPods, plain)
	o := w.observe(t)
	d := newDice(r)
	proxy := localcluster.ProxyForTest(t, s.config, d.onWrite)
	proxy.Interfere(d.onOther)
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		t.Logf("of %d calls failed: %v", d.requests, d.failed)
	}()
	w.start(t, s.through(proxy), s.through(proxy))
	w.awaitAllRight(t, "at first")
	for change := range 4 {
		tbl := randomTable(r)
		o.allow(tbl)
		w.setTable(tbl)
		// All watches must start again.
		for _, down := range []bool{true, false} {
			if err := proxy.SetDown(down); err != nil {
				t.Fatal(err)
			}
		}
		w.awaitAllRight(t, fmt.Sprintf("after change %d", change))
	}
	o.check(t)
}
