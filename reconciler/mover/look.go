package mover

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

const (
	// firstRetry is the time after which a pod that cannot move is judged again, or evicted again: it may only have been resized
	// in between. It doubles with each further attempt, up to lastRetry.
	firstRetry, lastRetry = time.Second, 10 * time.Minute
	// mostJudged is how many pods are judged in one look: each takes a few requests to the API server.
	mostJudged = 20
)

// retry is when something is tried again.
type retry struct {
	tries int
	at    time.Time
	// why is why it was not possible, and budget the namespace of the PodDisruptionBudget that did not permit it; empty if that
	// is not why.
	why, budget string
}

// later notes why something was not possible, and when it is tried again.
func (r *retry) later(now time.Time, why string) {
	pause := min(firstRetry<<min(r.tries, 10), lastRetry)
	r.tries, r.at, r.why, r.budget = r.tries+1, now.Add(pause), why, ""
}

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
	// sizes has those of the workloads of namespaces.
	sizes map[string]map[workload.Workload]size
}

// soon lets the next look be at this time or earlier.
func (g *glance) soon(at time.Time) {
	if g.next.IsZero() || at.Before(g.next) {
		g.next = at
	}
}

// look moves the pods that may move now, and returns when to look again; zero if only a change makes a difference.
func (m *Mover) look(ctx context.Context) (next time.Time) {
	now := m.Clock.Now()
	m.checkNodes()
	g := &glance{Mover: m, now: now, holds: m.holding(), doubtful: m.doubtful, sizes: map[string]map[workload.Workload]size{}}
	m.doubtful = true // Unless the book is reviewed.
	rules, known := m.Cluster.Rules()
	if !known {
		return now.Add(unknownPause)
	}
	g.Rules = rules
	book, err := m.store.last()
	enabled := slices.ContainsFunc(rules.Table.Profiles(), func(p *profile) bool { return p.Eviction.Enabled })
	if !enabled {
		err = nil
	}
	m.fail(err)
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
	g.continueAll(ctx)
	g.begin(ctx)
	if g.judged == 0 {
		g.views = nil // It may be long until they are needed again.
	}
	if book, _ := m.store.last(); len(book.Entries) > 0 {
		g.soon(now.Add(lastRetry)) // Entries end.
	}
	return g.next
}

// fail notes why nothing can be evicted.
func (m *Mover) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problem = err
}

// unstored reports that a decision cannot be stored, so that nothing is evicted.
func (m *Mover) unstored(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	m.fail(fmt.Errorf("evictions cannot be stored, so no pod is evicted: %w", err))
	klog.FromContext(ctx).Error(err, "Evictions cannot be stored, so no pod is evicted; retrying")
}

// prepare brings a stored book up to date, and reports whether that has changed it.
func (g *glance) prepare(b *evict.Book) (changed bool) {
	b.MostPerHour = g.Table.Profiles()[0].Eviction.MaxPerHour
	continued := g.doubtful && b.Continue()
	changed = b.Review(g.now, g.holds) || continued
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Missed.IsZero() && g.missed(e) {
			e.Missed, changed = g.now, true
		}
	}
	return changed
}

// change changes and stores the book.
func (g *glance) change(ctx context.Context, change func(*evict.Book) bool) error {
	err := g.store.update(ctx, func(b *evict.Book) bool {
		prepared := g.prepare(b)
		return change(b) || prepared
	})
	if err == nil {
		g.doubtful = false
	}
	return err
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
		if g.podOf(e) == nil {
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

// podOf returns the pod of an entry; nil if it is gone.
func (m *Mover) podOf(e *evict.Entry) *pod.Pod {
	if of := m.Cluster.Pods(e.Namespace).Get(e.Pod); of != nil && of.UID == e.UID && !of.Finished() {
		return of
	}
	return nil
}

const (
	// seenWithin is how late the cache may show that a pod is being deleted.
	seenWithin = time.Minute
	// replacedWithin is how long it may take until a ready pod has taken the place of one that was evicted, and wholeWithin how
	// long others of its workload and of its node wait for that.
	replacedWithin, wholeWithin = 10 * time.Minute, time.Hour
)

// inProgress reports whether a pod is about to move, or has moved and its workload is not complete again. A budget or a
// finalizer, say, may prevent that for good: others do not wait longer than for one that has moved.
func (g *glance) inProgress(e *evict.Entry) bool {
	return g.moving(e) || g.podOf(e) != nil && e.Cleared.IsZero() && g.now.Sub(e.Chosen) < wholeWithin
}

// moving reports whether a pod may have been evicted, and its workload is not complete again.
func (g *glance) moving(e *evict.Entry) bool {
	if of := g.podOf(e); of != nil {
		return g.now.Sub(e.At) < seenWithin || of.Terminating() && g.now.Sub(e.At) < wholeWithin
	}
	s := g.count(e.Namespace, e.Workload)
	return g.now.Sub(e.At) < wholeWithin && (s.ready < e.Ready || s.ready+s.others < e.Pods)
}

// missed reports whether no ready pod has taken the place of one that was evicted. If all pods of the workload are ready, it
// was scaled down.
func (g *glance) missed(e *evict.Entry) bool {
	if g.now.Sub(e.At) < replacedWithin || g.now.Sub(e.At) >= wholeWithin || g.podOf(e) != nil {
		return false
	}
	s := g.count(e.Namespace, e.Workload)
	return s.ready < e.Ready && s.others > 0
}

// size is how many pods of a workload are ready, how many others it has, and how many of all are on a node.
type size struct{ ready, others, placed int }

// count returns the size of a workload.
func (g *glance) count(namespace string, w workload.Workload) size {
	sizes := g.sizes[namespace]
	if sizes == nil {
		sizes = map[workload.Workload]size{}
		owners := make([]workload.Workload, 0, 4) // Few pods have more than 4.
		for _, of := range g.Cluster.Pods(namespace).List() {
			if !of.Lives() {
				continue
			}
			owners = g.Cluster.Owners().Chain(owners[:0], of)
			w := topOf(of, owners)
			s := sizes[w]
			if ready, _ := of.Ready(); ready {
				s.ready++
			} else {
				s.others++
			}
			if of.Node() != "" {
				s.placed++
			}
			sizes[w] = s
		}
		g.sizes[namespace] = sizes
	}
	return sizes[w]
}

// retryOf returns when a pod is tried again.
func (m *Mover) retryOf(uid types.UID) *retry {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.retries[uid]
	if r == nil {
		r = &retry{}
		m.retries[uid] = r
	}
	return r
}

// postpone notes why a pod does not move, and that it is tried again later.
func (g *glance) postpone(uid types.UID, why string) {
	r := g.retryOf(uid)
	g.mu.Lock()
	defer g.mu.Unlock()
	r.later(g.now, why)
	g.soon(r.at)
}

// await notes why a pod does not move before another one has: that usually takes seconds, and is no attempt.
func (g *glance) await(uid types.UID, why string) {
	r := g.retryOf(uid)
	g.mu.Lock()
	defer g.mu.Unlock()
	r.at, r.why = g.now.Add(leastPause), why
	g.soon(r.at)
}

// waits reports whether a pod is tried again only later.
func (g *glance) waits(uid types.UID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.retries[uid]
	if r == nil || !g.now.Before(r.at) {
		return false
	}
	g.soon(r.at)
	return true
}

// continueAll evicts the pods of entries that could not be evicted before.
func (g *glance) continueAll(ctx context.Context) {
	book, _ := g.store.last()
	for i := range book.Entries {
		e := &book.Entries[i]
		of := g.podOf(e)
		if of == nil || of.Terminating() || !e.Cleared.IsZero() || g.waits(e.UID) {
			continue
		}
		if g.judged >= mostJudged {
			g.soon(g.now)
			return
		}
		c := g.candidate(of, e.Cause, g.messageOf(of))
		if why := g.excludes(c); why != "" {
			g.keep(c, why)
			continue
		}
		g.move(ctx, c, func(b *evict.Book) *evict.Entry { return b.Again(g.now, &c.Candidate, g.inProgress, g.moving) })
	}
}

// messageOf returns what the node of a pod lacks.
func (m *Mover) messageOf(of *pod.Pod) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.lacking[of.NamespacedName()]; t != nil {
		return t.message
	}
	return shortNode
}

// begin chooses pods to move.
func (g *glance) begin(ctx context.Context) {
	candidates := append(g.lackingPods(), g.podsOnShortNodes()...)
	slices.SortFunc(candidates, func(a, b *candidate) int { return evict.Compare(a.Candidate, b.Candidate) })
	candidates = slices.DeleteFunc(candidates, func(c *candidate) bool {
		why := g.excludes(c)
		if why != "" {
			g.keep(c, why)
		}
		return why != ""
	})
	for _, c := range candidates {
		book, _ := g.store.last()
		book = book.Clone()
		book.MostPerHour = g.Table.Profiles()[0].Eviction.MaxPerHour
		why := book.Refuses(g.now, &c.Candidate, g.inProgress)
		if why == "" && book.HadHalf(g.now, c.Namespace) && slices.ContainsFunc(candidates, func(o *candidate) bool { return o.Namespace != c.Namespace }) {
			why = "pods wait in other namespaces, and its namespace has had half of the evictions of an hour (eviction.maxPerHour)"
		}
		switch why {
		case "":
		case evict.Waits:
			g.await(c.UID, why)
			continue
		default:
			g.postpone(c.UID, why)
			continue
		}
		if g.judged >= mostJudged {
			g.soon(g.now)
			return
		}
		g.move(ctx, c, func(b *evict.Book) *evict.Entry { return b.Decide(g.now, &c.Candidate, g.inProgress) })
	}
}
