package mover

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Explain describes when a pod moves to another node, or why it does not; empty if nothing requires that.
func (m *Mover) Explain(of *pod.Pod) string {
	if m == nil {
		return ""
	}
	rules, known := m.Cluster.Rules()
	if !known {
		return ""
	}
	book, err := m.store.last()
	now := m.Clock.Now()
	m.mu.Lock()
	var r retry
	if last := m.retries[of.UID]; last != nil {
		r = *last
	}
	t, lacks := m.lacking[of.NamespacedName()], m.short[of.Node()]
	m.mu.Unlock()
	settings := &rules.Table.Profile(of).Eviction
	itself := t != nil && t.uid == of.UID
	l, leaves := lacks.leavers[of.UID]
	must := itself || leaves && !l.forOthers
	e := book.Of(of.UID)
	due := now
	if itself {
		due = dueOf(e, t.Cause, t.due(settings), settings)
	}
	if leaves && !l.forOthers {
		cause := evict.Cause{Namespace: of.Namespace(), Workload: topOf(of, m.Cluster.Owners().Chain(nil, of)), Node: of.Node(), Reason: headroom}
		if at := dueOf(e, cause, lacks.due(settings), settings); !itself || at.Before(due) {
			due = at
		}
	}
	if e != nil && !e.NotEvicted() && !m.DryRun && (of.Terminating() || r.why == evicted) {
		verb := "was"
		if r.why != evicted {
			verb = "may have been" // The answer was lost, or another replica has it.
		}
		return fmt.Sprintf("it %s evicted at %s (%s)", verb, e.Last().UTC().Format(time.RFC3339), e.Reason)
	}
	never := neverMoves(of, settings)
	said, whyNot := "it is not evicted: ", ""
	if e != nil {
		said = fmt.Sprintf("it was chosen to be evicted at %s (%s), but not now: ", e.Chosen.UTC().Format(time.RFC3339), e.Reason)
	}
	switch {
	case !settings.Enabled:
		whyNot = "eviction.enabled is false for it"
	case never != "":
		whyNot = never
	case err != nil:
		whyNot = err.Error()
	case rules.Holds.Freeze() != nil:
		whyNot = "the cluster is frozen"
	case leaves && !must:
		whyNot = "pods in another namespace need more of what their node lacks"
	case e != nil && !must && !e.Cleared.IsZero():
		whyNot = "its node has had room for it since " + e.Cleared.UTC().Format(time.RFC3339)
	case must && r.why != "" && !now.Before(due):
		whyNot = fmt.Sprintf("%s; this is checked again at %s", r.why, r.at.UTC().Format(time.RFC3339))
	}
	switch {
	case e == nil && !itself && (!leaves || !settings.Enabled):
		return ""
	case whyNot != "":
		return said + whyNot
	case must && now.Before(due):
		return fmt.Sprintf("it may be evicted from %s on, if its node still has no room for it and another node has", due.UTC().Format(time.RFC3339))
	case itself:
		return "it is evicted if another node has room for it; the leader decides"
	case must:
		return "it may be evicted, because " + lacks.String() + "; the leader decides"
	}
	return fmt.Sprintf("it was chosen to be evicted at %s (%s)", e.Chosen.UTC().Format(time.RFC3339), e.Reason)
}

// Moved returns the evictions of the last hour, the newest first, and how many pods may be evicted because their nodes have no
// room for them, and are not yet. Pods that never move do not count.
func (m *Mover) Moved() (done []evict.Entry, waiting int) {
	if m == nil {
		return nil, 0
	}
	book, _ := m.store.last()
	for i := range book.Entries {
		switch e := &book.Entries[i]; {
		case m.gone(e):
			if now := m.Clock.Now(); !m.DryRun && !e.NotEvicted() && now.Sub(e.Last()) < time.Hour {
				done = append(done, *e)
			}
		case e.Cleared.IsZero():
			waiting++
		}
	}
	slices.SortStableFunc(done, func(a, b evict.Entry) int { return b.Last().Compare(a.Last()) })
	rules, known := m.Cluster.Rules()
	if !known {
		return done, waiting
	}
	m.mu.Lock()
	lacking, short := maps.Clone(m.lacking), maps.Clone(m.short)
	m.mu.Unlock()
	waits := map[types.UID]bool{}
	wait := func(name types.NamespacedName, uid types.UID) {
		of := m.Cluster.Pods(name.Namespace).Get(name.Name)
		if of == nil || of.UID != uid || !of.Lives() || book.Of(uid) != nil {
			return
		}
		if settings := &rules.Table.Profile(of).Eviction; settings.Enabled && neverMoves(of, settings) == "" {
			waits[uid] = true
		}
	}
	for name, t := range lacking {
		wait(name, t.uid)
	}
	for _, lacks := range short {
		for uid, l := range lacks.leavers {
			if !l.forOthers {
				wait(l.of.NamespacedName(), uid)
			}
		}
	}
	return done, waiting + len(waits)
}

// gone reports whether the pod of an entry is gone, or going.
func (m *Mover) gone(e *evict.Entry) bool {
	of := m.podOf(e)
	return of == nil || of.Terminating()
}
