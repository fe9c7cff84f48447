package mover

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// mostJudged is how many pods are judged in one look: each takes a few requests to the API server.
const mostJudged = 20

// glance is one look at the pods that may move.
type glance struct {
	*Mover
	cluster.Rules
	now time.Time
	// holds reports whether a cause holds, and doubtful is as in Mover, before this look.
	holds    func(evict.Cause) bool
	doubtful bool
	next     time.Time
	// judged is how many pods were judged, and scene the cluster around them; nil if it must be read.
	judged int
	scene  *evict.Scene
	// sizes has those of the workloads of namespaces, and waiting the pods that may move now, or wait for other evictions.
	sizes   map[string]map[workload.Workload]size
	waiting queue
	// must has the pods that must move now or later.
	must map[types.UID]bool
}

// queue has the namespaces of pods that wait for an eviction.
type queue map[types.UID]string

// besides reports whether a pod other than the candidate waits.
func (q queue) besides(c *candidate) bool {
	for uid := range q {
		if uid != c.UID {
			return true
		}
	}
	return false
}

// elsewhere reports whether a pod waits in another namespace than the candidate.
func (q queue) elsewhere(c *candidate) bool {
	for _, namespace := range q {
		if namespace != c.Namespace {
			return true
		}
	}
	return false
}

// soon lets the next look be at this time or earlier.
func (g *glance) soon(at time.Time) { g.next = earliest(g.next, at) }

// earliest returns the earlier one of two times, the second of which is not zero; zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// look moves the pods that may move now, and returns when to look again; zero if only a change makes a difference.
func (m *Mover) look(ctx context.Context) (next time.Time) {
	now := m.Clock.Now()
	rules, known := m.Cluster.Rules()
	if !known {
		m.doubtful = true
		return now.Add(unknownPause)
	}
	enabled := slices.ContainsFunc(rules.Table.Profiles(), func(p *profile) bool { return p.Eviction.Enabled })
	knowsNodes := m.Headroom == nil || m.Headroom.Known() // Before it is asked.
	if m.checkNodes(now, enabled) {
		defer func() { next = earliest(next, now.Add(mostPause)) }() // That pods use less is not said.
	}
	g := &glance{
		Mover: m, Rules: rules, now: now, holds: m.holding(knowsNodes), doubtful: m.doubtful,
		sizes: map[string]map[workload.Workload]size{}, waiting: queue{}, must: map[types.UID]bool{},
	}
	m.doubtful = true // Unless the book is reviewed.
	book, err := m.store.last()
	if !enabled {
		err = nil
	}
	m.fail(err)
	if !enabled || !m.leads() {
		m.forget()
	}
	switch {
	case !m.leads(), !enabled && len(book.Entries) == 0:
		return time.Time{}
	case err != nil:
		return now.Add(unknownPause)
	}
	if err := g.review(ctx); err != nil {
		m.unstored(ctx, err)
		return now.Add(unknownPause)
	}
	m.doubtful = false
	if !enabled || rules.Holds.Freeze() != nil {
		return now.Add(lastRetry) // The end of a freeze is a change.
	}
	g.heedLimit()
	g.moveAll(ctx)
	if g.judged == 0 {
		g.views = nil // It may be long until they are needed again.
	}
	if book, _ := m.store.last(); len(book.Entries) > 0 {
		g.soon(now.Add(lastRetry)) // Entries end.
	}
	return g.next
}

// prepare brings a stored book up to date, and reports whether that has changed it.
func (g *glance) prepare(b *evict.Book) (changed bool) {
	continued := g.doubtful && b.Continue(g.now)
	changed = b.Review(g.now, g.holds) || continued
	n := len(b.Entries)
	b.Entries = slices.DeleteFunc(b.Entries, func(e evict.Entry) bool { return e.NotEvicted() && g.podOf(&e) == nil }) // It went by itself.
	changed = changed || len(b.Entries) < n
	for i := range b.Entries {
		e := &b.Entries[i]
		if of := g.podOf(e); of != nil && !of.Terminating() && e.Settle(g.now) {
			changed = true
		}
	}
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Missed.IsZero() && g.missed(e) {
			e.Missed, changed = g.now, true
		}
	}
	return changed
}

// change changes and stores the book.
func (g *glance) change(ctx context.Context, change func(*evict.Book) bool) error {
	written := false
	err := g.store.update(ctx, func(b *evict.Book) bool {
		prepared := g.prepare(b)
		written = change(b) || prepared
		return written
	})
	if err != nil {
		return err
	}
	g.doubtful = false
	if written {
		g.works(place{kind: errUnstored})
	}
	return nil
}

// review takes note of which causes are gone, and of what came of evictions.
func (g *glance) review(ctx context.Context) error {
	book, err := g.store.last()
	if err != nil {
		return err
	}
	if g.doubtful || g.prepare(book.Clone()) {
		if err := g.change(ctx, func(*evict.Book) bool { return false }); err != nil {
			return err
		}
	}
	book, _ = g.store.last()
	known := map[types.UID]bool{}
	for i := range book.Entries {
		e := &book.Entries[i]
		known[e.UID] = true
		if g.podOf(e) == nil && !e.NotEvicted() && !g.DryRun {
			g.Loop.CountEviction(workload.Group{Namespace: e.Namespace, Workload: e.Workload}, workload.Eviction{Pod: e.Pod, UID: e.UID, At: e.At, Missed: e.Missed})
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for uid, r := range g.retries {
		if !known[uid] && g.now.Sub(r.at) > lastRetry {
			delete(g.retries, uid)
		}
	}
	return nil
}

// heedLimit lets pods that wait for others try again if other numbers of pods may be evicted than at the last look.
func (g *glance) heedLimit() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.most != g.mostPerHour() {
		for _, r := range g.retries {
			if r.waits {
				r.restart(g.now)
			}
		}
	}
	g.most = g.mostPerHour()
}

// mostPerHour is how many pods are evicted within an hour.
func (g *glance) mostPerHour() int { return g.Table.Profiles()[0].Eviction.MaxPerHour }

// moveAll moves the pods whose time has come, first those that were chosen before and could not be evicted.
func (g *glance) moveAll(ctx context.Context) {
	candidates := append(g.lackingPods(), g.podsOnShortNodes()...) // A pod may have two causes.
	candidates = slices.DeleteFunc(candidates, func(c *candidate) bool {
		why := g.excludes(c)
		if why != "" {
			g.keep(c, why)
		}
		return why != ""
	})
	book, _ := g.store.last()
	slices.SortFunc(candidates, func(a, b *candidate) int { return compare(g.now, book, a, b) })
	for _, c := range candidates {
		g.waiting[c.UID] = c.Namespace
	}
	tried := map[types.UID]bool{}
	for _, c := range candidates {
		if tried[c.UID] {
			continue // It moves, or waits, for its other cause.
		}
		book, _ := g.store.last()
		why, waits := g.whyNot(book, c)
		switch {
		case waits:
			at := g.now.Add(leastPause)
			if until := book.Full(g.now, g.mostPerHour()); until.After(at) {
				at = earlier(until, g.now.Add(lastRetry)) // The others may have moved before.
			}
			tried[c.UID] = true
			g.await(c.UID, why, at)
			continue
		case why != "":
			delete(g.waiting, c.UID)
			g.postpone(c.UID, why)
			continue
		}
		if g.judged >= mostJudged {
			g.soon(g.now)
			return
		}
		tried[c.UID] = true
		g.move(ctx, c)
	}
}

// compare orders candidates: first those that were chosen within the hour, the oldest first, for the same cause if that still holds.
// Those that were chosen earlier could not be evicted for long: they come last, and take turns.
func compare(now time.Time, book *evict.Book, a, b *candidate) int {
	x, y := book.Of(a.UID), book.Of(b.UID)
	turn := func(e *evict.Entry) int {
		switch {
		case e == nil:
			return 1
		case now.Sub(e.Chosen) < time.Hour:
			return 0
		}
		return 2
	}
	switch {
	case turn(x) != turn(y):
		return turn(x) - turn(y)
	case x != nil:
		same := func(e *evict.Entry, c *candidate) int {
			if e.Cause == c.Cause {
				return 0
			}
			return 1
		}
		since := x.Chosen.Compare(y.Chosen)
		if turn(x) == 2 {
			since = x.At.Compare(y.At)
		}
		return cmp.Or(since, strings.Compare(string(a.UID), string(b.UID)), same(x, a)-same(y, b))
	}
	return evict.Compare(a.Candidate, b.Candidate)
}

// whyNot returns why a candidate does not move now, and whether only others come first.
func (g *glance) whyNot(book *evict.Book, c *candidate) (why string, waits bool) {
	why, waits = book.WhyNot(g.now, &c.Candidate, g.mostPerHour(), g.inProgress, g.moving)
	switch {
	case why != "":
	case g.waiting.besides(c) && book.Renews(g.now, &c.Candidate, g.mostPerHour()):
		return "other pods come first, since it was chosen more than an hour ago", true
	case g.waiting.elsewhere(c) && book.HadHalf(g.now, &c.Candidate, g.mostPerHour()):
		return "pods wait in other namespaces, and its namespace has had half of the evictions of an hour (eviction.maxPerHour)", true
	}
	return why, waits
}
