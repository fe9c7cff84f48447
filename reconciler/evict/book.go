package evict

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Closed is how long a cause must have been gone before pods may be moved for it again: a cause that comes and goes would
// move a pod each time.
const Closed = time.Hour

// mostEntries is how many decisions a Book remembers. If all of them still count, no pod is moved.
const mostEntries = 2000

// Cause is why a pod of a workload must leave a node.
type Cause struct {
	Namespace string
	Workload  workload.Workload
	Node      string
	// Reason is one word, such as ResizeDeferred.
	Reason string
}

// Candidate is a pod that may move for a cause.
type Candidate struct {
	Cause
	Pod string
	UID types.UID
	// Rank says how readily the pod moves, and Rest how much room that makes, in any unit.
	Rank Rank
	Rest int64
}

// Rank is how readily a pod moves: those with a low rank move first.
type Rank uint8

// Ranks, in the order in which pods move.
const (
	Low Rank = iota
	Medium
	High
	Never
)

// Entry is a decision to move a pod.
type Entry struct {
	Cause
	Pod string
	UID types.UID
	At  time.Time
	// Cleared is since when the cause is gone; zero while it holds.
	Cleared time.Time
}

// Book remembers which pods were moved, and why. A decision is written to it, and the book is stored, before the pod is
// evicted: whoever continues after a crash knows of it, and evicts the same pod or none.
type Book struct {
	// MostPerHour is how many pods are moved within an hour.
	MostPerHour int
	Entries     []Entry
}

// Decide chooses the pod to move next, writes it to the book, and returns its entry; nil if none may move now. An entry that
// is in progress, because its pod is still there or its workload is not complete again, keeps other pods of the workload and
// of the node where they are.
func (b *Book) Decide(now time.Time, candidates []Candidate, inProgress func(*Entry) bool) *Entry {
	recent := 0
	var busy []*Entry
	for i := range b.Entries {
		e := &b.Entries[i]
		if now.Sub(e.At) < time.Hour {
			recent++
		}
		if inProgress(e) {
			busy = append(busy, e)
		}
	}
	if recent >= b.MostPerHour || len(b.Entries) >= mostEntries {
		return nil
	}
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(c Candidate) bool {
		return c.Rank >= Never || b.knows(c.Cause) || slices.ContainsFunc(busy, func(e *Entry) bool {
			return e.Node == c.Node || e.Namespace == c.Namespace && e.Workload == c.Workload
		})
	})
	if len(candidates) == 0 {
		return nil
	}
	c := slices.MinFunc(candidates, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(b.Rest, a.Rest), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Pod, b.Pod))
	})
	b.Entries = append(b.Entries, Entry{Cause: c.Cause, Pod: c.Pod, UID: c.UID, At: now})
	return &b.Entries[len(b.Entries)-1]
}

// knows reports whether a pod was already moved for a cause that is not closed.
func (b *Book) knows(c Cause) bool {
	return slices.ContainsFunc(b.Entries, func(e Entry) bool { return e.Cause == c })
}

// Continue takes over a book that another process has stored. Nobody looked meanwhile, so that a cause that was gone may have
// come back: it counts as holding until Review says otherwise.
func (b *Book) Continue() {
	for i := range b.Entries {
		b.Entries[i].Cleared = time.Time{}
	}
}

// Review records which causes are gone, and forgets what no longer counts. It reports whether the book has changed, so that
// it must be stored. holds reports whether a cause holds now; what is not known holds.
func (b *Book) Review(now time.Time, holds func(Cause) bool) (changed bool) {
	for i := range b.Entries {
		e := &b.Entries[i]
		switch held := holds(e.Cause); {
		case held && !e.Cleared.IsZero():
			e.Cleared, changed = time.Time{}, true
		case !held && e.Cleared.IsZero():
			e.Cleared, changed = now, true
		}
	}
	n := len(b.Entries)
	b.Entries = slices.DeleteFunc(b.Entries, func(e Entry) bool {
		return !e.Cleared.IsZero() && now.Sub(e.Cleared) >= Closed && now.Sub(e.At) >= time.Hour
	})
	return changed || len(b.Entries) < n
}
