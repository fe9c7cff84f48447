package mover

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
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
	if e := book.Of(of.UID); e != nil {
		return explainEntry(e, &r)
	}
	settings := &rules.Table.Profile(of).Eviction
	itself := t != nil && t.uid == of.UID
	l, leaves := lacks.leavers[of.UID]
	var due time.Time
	switch {
	case !itself && (!leaves || !settings.Enabled):
		return ""
	case !itself && l.stays:
		return "it is not evicted: a pod in another namespace needs more of what their node lacks"
	case !itself:
		due = lacks.due(settings)
	case !leaves || l.stays:
		due = t.due(settings)
	default:
		due = earlier(t.due(settings), lacks.due(settings))
	}
	rank, ranked := of.Annotation(contract.EvictionRank)
	kept := keptByRank(rank, ranked, settings)
	switch {
	case !settings.Enabled:
		return "it is not evicted: eviction.enabled is false for it"
	case kept != "":
		return "it is not evicted: " + kept
	case err != nil:
		return "it is not evicted: " + err.Error()
	case rules.Holds.Freeze() != nil:
		return "it is not evicted: the cluster is frozen"
	case r.why != "":
		return fmt.Sprintf("it is not evicted: %s; this is checked again at %s", r.why, r.at.UTC().Format(time.RFC3339))
	case now.Before(due):
		return fmt.Sprintf("it may be evicted from %s on, if its node still has no room for it and another node has", due.UTC().Format(time.RFC3339))
	case !itself:
		return "it may be evicted, because its node lacks room for what its pods need together; the leader decides"
	}
	return "it is evicted if another node has room for it; the leader decides"
}

// explainEntry says what becomes of a pod that was chosen.
func explainEntry(e *evict.Entry, r *retry) string {
	text := fmt.Sprintf("it was chosen to be evicted at %s (%s)", e.Chosen.UTC().Format(time.RFC3339), e.Reason)
	switch {
	case !e.Cleared.IsZero():
		return text + ", but its node has had room for it since " + e.Cleared.UTC().Format(time.RFC3339)
	case r.why != "":
		return text + ": " + r.why
	}
	return text
}

// Moved returns the evictions of the last hour, the newest first, and how many pods may be evicted because their nodes have no
// room for them, and are not yet. Pods that their rank keeps do not count.
func (m *Mover) Moved() (done []evict.Entry, waiting int) {
	if m == nil {
		return nil, 0
	}
	book, _ := m.store.last()
	for i := range book.Entries {
		switch e := &book.Entries[i]; {
		case m.gone(e):
			if m.Clock.Since(e.At) < time.Hour {
				done = append(done, *e)
			}
		case e.Cleared.IsZero():
			waiting++
		}
	}
	slices.SortStableFunc(done, func(a, b evict.Entry) int { return b.At.Compare(a.At) })
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
		rank, ranked := of.Annotation(contract.EvictionRank)
		if settings := &rules.Table.Profile(of).Eviction; settings.Enabled && keptByRank(rank, ranked, settings) == "" {
			waits[uid] = true
		}
	}
	for name, t := range lacking {
		wait(name, t.uid)
	}
	for _, lacks := range short {
		for uid, l := range lacks.leavers {
			if !l.stays {
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
