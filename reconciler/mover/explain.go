package mover

import (
	"fmt"
	"time"

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
	settings := &rules.Table.Profile(of).Eviction
	book, err := m.store.last()
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.retries[of.UID]
	if e := book.Of(of.UID); e != nil {
		return explainEntry(e, r)
	}
	t := m.lacking[of.NamespacedName()]
	if t == nil || t.uid != of.UID {
		return ""
	}
	switch now := m.Clock.Now(); {
	case !settings.Enabled:
		return "it is not evicted: eviction.enabled is false for it"
	case err != nil:
		return "it is not evicted: " + err.Error()
	case rules.Holds.Freeze() != nil:
		return "it is not evicted: the cluster is frozen"
	case r != nil && r.why != "":
		return fmt.Sprintf("it is not evicted: %s; this is checked again at %s", r.why, r.at.UTC().Format(time.RFC3339))
	case now.Before(t.due(settings)):
		return fmt.Sprintf("it may be evicted from %s on, if its node still has no room for it and another node has", t.due(settings).UTC().Format(time.RFC3339))
	}
	return "it is evicted if another node has room for it; the leader decides"
}

// explainEntry says what becomes of a pod that was chosen.
func explainEntry(e *evict.Entry, r *retry) string {
	text := fmt.Sprintf("it was chosen to be evicted at %s (%s)", e.At.UTC().Format(time.RFC3339), e.Reason)
	switch {
	case !e.Cleared.IsZero():
		return text + ", but its node has room for it since " + e.Cleared.UTC().Format(time.RFC3339)
	case r != nil && r.why != "":
		return text + ": " + r.why
	}
	return text
}

// Moved returns the pods that were chosen to be evicted within the last hour, the newest first, and why.
func (m *Mover) Moved() []evict.Entry {
	if m == nil {
		return nil
	}
	book, _ := m.store.last()
	var all []evict.Entry
	for i := len(book.Entries) - 1; i >= 0; i-- {
		if m.Clock.Since(book.Entries[i].At) < time.Hour {
			all = append(all, book.Entries[i])
		}
	}
	return all
}
