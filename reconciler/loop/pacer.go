package loop

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
)

// pacer lets pods that have to be sized anew through at a steady rate, so that a
// changed ratio does not move a whole cluster at once.
//
// The rate is one of pods that are moved. A pod that is refused was not, so the next
// one has its turn at once, as fast as the API server may be asked at all; what could
// not be used in time is made up for. Pods that are refused therefore cost the others
// one request each, once: from then on they wait behind them. So does a pod that was
// moved: one that is to have another size again and again, as its labels change all the
// time, has its next turn when all others that wait have been moved as often.
type pacer struct {
	clock clock.Clock
	// pause is the time from turn to turn; 0 lets all through.
	pause time.Duration
	// most is how many turns may be under way: what comes of them decides how many
	// more there are, and more would only stand in the queue before pods that are new.
	most int

	mu    sync.Mutex
	lines lines
	byPod map[types.NamespacedName]*turn
	// moves are how often pods were moved since none waited.
	moves map[types.NamespacedName]int
	// due is when the next turn is. It falls behind the clock by the turns that have
	// not been used; failedDue is for the pods that failed.
	due, failedDue time.Time
	// underWay is how many turns have come and are not over.
	underWay int
	// changed receives when a turn may have become possible.
	changed chan struct{}
}

const (
	// madeUpFor is the time whose turns are made up for at most. What waits for
	// longer goes at the usual rate.
	madeUpFor = time.Minute
	// failedShare is of how many turns one is for a pod that failed while others
	// wait: so many that the others do not notice, and it is not forgotten.
	failedShare = 20
)

// newPacer returns a pacer that lets perSecond pods through, of which most are
// under way at once; a rate of 0 lets all through.
func newPacer(perSecond float64, most int, c clock.Clock) *pacer {
	p := &pacer{clock: c, most: most, byPod: map[types.NamespacedName]*turn{}, moves: map[types.NamespacedName]int{}, changed: make(chan struct{}, 1)}
	if perSecond > 0 {
		p.pause = time.Duration(float64(time.Second) / perSecond)
	}
	return p
}

// take begins a visit of a pod, in which its turn can be used if it has come.
func (p *pacer) take(pod types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.byPod[pod]; t != nil && t.came {
		t.taken = true
	}
}

// mayGo tells whether it is the pod's turn. Otherwise the pod waits for it.
func (p *pacer) mayGo(pod types.NamespacedName, wrong float64, restores bool) bool {
	if p.pause == 0 {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.byPod[pod]
	if t == nil {
		t = &turn{pod: pod, moves: p.moves[pod]}
		p.byPod[pod] = t
	}
	if t.came {
		t.taken = true
		return true
	}
	if p.lines.untried() == 0 {
		// The first waits as well, so that the most wrong of many that come at once
		// is known, and what others did not use is not for those that come later.
		p.due = later(p.due, p.clock.Now().Add(p.pause))
	}
	p.lines.put(t, wrong, restores)
	p.wake()
	return false
}

// used ends the turn of a pod by what came of it.
func (p *pacer) used(pod types.NamespacedName, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.byPod[pod]
	if t == nil || !t.taken {
		return
	}
	switch {
	case err == nil, is[*actuate.UnrecordedError](err):
		delete(p.byPod, pod)
		p.moves[pod]++
	case is[*actuate.StoppedError](err), actuate.Outdated(err):
		p.giveBack(t)
		t.missed()
	case inTrouble(err):
		// The server is not to be asked any faster for it, nor all at once when it
		// is well again.
		p.due = later(p.due, p.clock.Now())
		t.missed()
	default:
		p.giveBack(t)
		t.failed = true
	}
	p.over(t)
}

// release ends a visit: a turn that was taken and not used is given back.
func (p *pacer) release(pod types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.byPod[pod]; t != nil && t.taken {
		p.giveBack(t)
		t.missed()
		p.over(t)
	}
}

// forget drops a pod that has no need of a turn any more.
func (p *pacer) forget(pod types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.byPod[pod]
	if t == nil {
		return
	}
	if t.came {
		p.giveBack(t)
		p.over(t)
	}
	p.lines.remove(t)
	delete(p.byPod, pod)
}

// gone drops a pod that does not exist any more.
func (p *pacer) gone(pod types.NamespacedName) {
	p.forget(pod)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.moves, pod)
}

// giveBack has the next turn come at once. Pods that failed before get no more tries
// than there are turns, or they would be all that the API server hears of.
func (p *pacer) giveBack(t *turn) {
	if !t.failed {
		p.due = p.due.Add(-p.pause)
	}
}

// over ends a turn that has come.
func (p *pacer) over(t *turn) {
	t.came, t.taken = false, false
	p.underWay--
	p.wake()
}

// clear drops all pods.
func (p *pacer) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines, p.underWay, p.moves = lines{}, 0, map[types.NamespacedName]int{}
	clear(p.byPod)
}

// backlog is how many pods wait.
func (p *pacer) backlog() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lines.len()
}

func (p *pacer) wake() {
	select {
	case p.changed <- struct{}{}:
	default: // It is known already that something has changed.
	}
}

// run calls turnOf for each pod whose turn comes, until ctx is done.
func (p *pacer) run(ctx context.Context, turnOf func(types.NamespacedName)) {
	for {
		pod, wait := p.next()
		if wait == 0 {
			turnOf(pod)
			continue
		}
		var due <-chan time.Time
		if wait > 0 {
			due = p.clock.After(wait)
		}
		select {
		case <-due:
		case <-p.changed:
		case <-ctx.Done():
			return
		}
	}
}

// next gives a pod its turn, or returns how long there is none; that is negative
// until something changes.
func (p *pacer) next() (types.NamespacedName, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines.untried() == 0 && p.underWay == 0 && len(p.moves) > 0 {
		p.moves = map[types.NamespacedName]int{} // Cleared, it would keep its memory.
	}
	if p.lines.len() == 0 || p.underWay >= p.most {
		return types.NamespacedName{}, -1
	}
	now := p.clock.Now()
	p.due = later(p.due, now.Add(-madeUpFor))
	due, others := p.due, p.lines.untried() > 0
	if !others {
		due = later(due, p.failedDue) // They make up for nothing.
	}
	if wait := due.Sub(now); wait > 0 {
		return types.NamespacedName{}, wait
	}
	t := p.lines.next(!now.Before(p.failedDue))
	p.due = p.due.Add(p.pause)
	if t.failed {
		p.failedDue = now.Add(p.pause)
		if others {
			p.failedDue = now.Add(failedShare * p.pause)
		}
	}
	t.came = true
	p.underWay++
	return t.pod, 0
}

// inTrouble tells the errors that speak of the API server, whatever pod it is asked
// about. A webhook that cannot be called need not be asked about every pod.
func inTrouble(err error) bool {
	code := actuate.StatusCode(err)
	return code == 0 || code == http.StatusTooManyRequests || is[*actuate.BusyError](err) ||
		code >= http.StatusInternalServerError && !strings.Contains(err.Error(), "failed calling webhook")
}

// is tells whether an error is one of a type.
func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
