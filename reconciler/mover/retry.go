package mover

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// firstRetry is the time after which a pod that cannot move is judged again, or evicted again: it may only have been resized in
// between. It doubles with each further attempt, up to lastRetry.
const firstRetry, lastRetry = time.Second, 10 * time.Minute

// retry is when it is tried again to move a pod.
type retry struct {
	tries int
	// at is when it is tried again, and least the time before which it must not be, whatever happens.
	at, least time.Time
	// why is why it was not possible, and budget the namespace of the PodDisruptionBudget that did not permit it; empty if that
	// is not why.
	why, budget string
	// waits means that only other evictions come first.
	waits bool
	// restarted is when it was last tried earlier than planned, because the pod must move more urgently, and eased because a budget might
	// permit it.
	restarted, eased time.Time
}

// soon lets a pod move now that waits for another attempt, since what prevented it may be gone.
func (r *retry) soon(now time.Time) {
	r.at = now
	if now.Before(r.least) {
		r.at = r.least
	}
}

// restart does so, too, and the pod waits no longer than at first if it cannot move then.
func (r *retry) restart(now time.Time) {
	r.tries = 0
	r.soon(now)
}

// hurry lets a pod move now that must move more urgently than before: not again and again, since causes may come and go all the
// time, and others wait to be judged. m.mu must be held.
func (m *Mover) hurry(uid types.UID, now time.Time) {
	if r := m.retries[uid]; r != nil && now.Sub(r.restarted) >= lastRetry {
		r.restart(now)
		r.restarted = now
	}
}

// retrying changes when it is tried again to move a pod.
func (m *Mover) retrying(uid types.UID, change func(*retry)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.retries[uid]
	if r == nil {
		r = &retry{}
		m.retries[uid] = r
	}
	change(r)
}

// postpone notes why a pod does not move, and that it is tried again later. It returns how often it was tried before.
func (g *glance) postpone(uid types.UID, why string) (tries int) {
	g.retrying(uid, func(r *retry) {
		if tries = r.tries; g.now.Before(r.at) {
			r.why = why // It was tried for its other cause right before.
			return
		}
		*r = retry{tries: tries + 1, at: g.now.Add(min(firstRetry<<min(tries, 10), lastRetry)), why: why, restarted: r.restarted, eased: r.eased}
		g.soon(r.at)
	})
	return tries
}

// await notes why others move before a pod, until then: that is no attempt.
func (g *glance) await(uid types.UID, why string, at time.Time) {
	g.retrying(uid, func(r *retry) {
		r.at, r.why, r.budget, r.waits = at, why, "", true
		g.soon(r.at)
	})
}

// waits reports whether a pod is tried again only later, and takes note of pods that wait for other evictions.
func (g *glance) waits(uid types.UID, namespace string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.retries[uid]
	if r == nil || !g.now.Before(r.at) {
		return false
	}
	if r.waits {
		g.waiting[uid] = namespace
	}
	g.soon(r.at)
	return true
}

// evicted is why a pod does not move that was evicted.
const evicted = "it was evicted"

// done notes that a pod was evicted.
func (g *glance) done(uid types.UID) {
	at := g.now.Add(seenWithin)
	g.retrying(uid, func(r *retry) {
		*r = retry{at: at, least: at, why: evicted, tries: r.tries, restarted: r.restarted, eased: r.eased}
	})
}

// askedFor lets a pod wait at least as long as the API server asks for.
func (g *glance) askedFor(uid types.UID, pause time.Duration) {
	g.retrying(uid, func(r *retry) {
		r.least = g.now.Add(pause)
		if r.least.After(r.at) {
			r.at = r.least
		}
	})
}

// keep postpones a pod that does not move, and notes whether that is because of a PodDisruptionBudget.
func (g *glance) keep(c *candidate, why string) {
	g.postpone(c.UID, why)
	if c.budget {
		g.retrying(c.UID, func(r *retry) { r.budget = c.Namespace })
	}
}

// BudgetEased takes note that a PodDisruptionBudget in a namespace may permit more than before: what waits for it is tried again. A
// budget may permit less and more all the time, so each pod is tried once a minute at most, and waits longer each time.
func (m *Mover) BudgetEased(namespace string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.Clock.Now()
	for _, r := range m.retries {
		if r.budget != namespace {
			continue
		}
		at := now
		if next := r.eased.Add(seenWithin); next.After(now) {
			at = next
		}
		if at.Before(r.at) {
			r.eased = at
			r.soon(at)
			m.lookSoon()
		}
	}
}
