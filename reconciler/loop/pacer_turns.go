package loop

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// run calls turnOf for each pod whose turn begins, until ctx is done.
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

// next returns the pod whose turn begins, or the time until the next turn, which is negative
// if there is none until something changes.
func (p *pacer) next() (types.NamespacedName, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.follow()
	if p.lines.untried() == 0 && p.underWay == 0 && len(p.moves)+len(p.last) > 0 {
		p.moves, p.last = map[types.NamespacedName]int{}, map[string]uint64{} // A cleared map would keep its memory.
	}
	if p.lines.len() == 0 || p.underWay >= p.most {
		return types.NamespacedName{}, -1
	}
	now := p.clock.Now()
	p.due = later(p.due, now.Add(-madeUpFor))
	if p.full {
		p.due, p.full = later(p.due, now), false
	}
	fits := func(t *turn) bool { return p.freed.fits(t.frees, p.pace.freedPerHour, now) }
	fair := func(t *turn) bool { return p.freed.fair(t, p.pace.freedPerHour, now) }
	t, failed := p.lines.first(fits, fair), p.lines.firstFailed(fits)
	due, others := p.due, t != nil
	if !others {
		due = later(due, p.failedDue) // Pods that failed do not make up for turns.
	}
	wait := due.Sub(now)
	if !others && (failed == nil || p.lines.untried() > 0) {
		p.full = true
		if room := p.freed.next(now); failed == nil || wait > room {
			wait = room
		}
	}
	if wait > 0 {
		return types.NamespacedName{}, wait
	}
	switch {
	case failed != nil && (!others || !t.restores && !now.Before(p.failedDue)):
		t = failed
	case others && p.turns%2 == 1:
		t = p.lines.firstInTurn(func(namespace string) uint64 { return p.last[namespace] }, fits, fair)
	}
	p.lines.remove(t)
	p.due = p.due.Add(p.pause)
	if t.failed {
		p.failedDue = now.Add(p.pause)
		if others {
			p.failedDue = now.Add(failedShare * p.pause)
		}
	} else {
		p.hadTurn(t.pod.Namespace)
	}
	t.came = true
	p.freed.hold(t, t.frees)
	p.underWay++
	return t.pod, 0
}

// hadTurn records a turn of a namespace.
func (p *pacer) hadTurn(namespace string) {
	if p.turns++; len(p.last) >= mostLast {
		p.last = map[string]uint64{}
	}
	p.last[namespace] = p.turns
}

func (p *pacer) wake() {
	select {
	case p.changed <- struct{}{}:
	default: // A pending signal covers this change, too.
	}
}
