package chaos

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// dice let one request in five fail.
type dice struct {
	mu     sync.Mutex
	random *rand.Rand
	// failed counts by what was asked and how it failed; requests counts all.
	failed   map[string]int
	requests int
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

// failures are all that there were.
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

// onOther lets reads fail as reads do. They do not hang: nothing bounds a watch.
func (d *dice) onOther(r *http.Request) localcluster.Action {
	if isWatch(r) {
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

// oneCallInFiveFails changes the ratios while calls fail: in the end all pods are
// right, and no pod ever has a size that none of the tables says.
func (s *suite) oneCallInFiveFails(t *testing.T) {
	r := random(t)
	w := newWorld(t, s.config, randomTable(r), "n2d", "n4", "c3")
	w.createMixed(t, mixedPods, plain)
	o := w.observe(t)
	d := &dice{random: rand.New(rand.NewPCG(r.Uint64(), 0)), failed: map[string]int{}}
	proxy := localcluster.ProxyForTest(t, s.config, d.onWrite)
	proxy.Interfere(d.onOther)
	w.start(t, s.through(proxy), s.through(proxy))
	w.awaitAllRight(t, "at first")
	for change := range 4 {
		tbl := randomTable(r)
		o.allow(tbl)
		w.setTable(tbl)
		// All watches have to begin anew.
		for _, down := range []bool{true, false} {
			if err := proxy.SetDown(down); err != nil {
				t.Fatal(err)
			}
		}
		w.awaitAllRight(t, fmt.Sprintf("after change %d", change))
	}
	o.check(t)
	d.mu.Lock()
	defer d.mu.Unlock()
	t.Logf("of %d calls failed: %v", d.requests, d.failed)
}
