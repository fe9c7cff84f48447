package evict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Closed is how long a cause must have been gone before pods may be moved for it again: a cause that comes and goes would
// move a pod each time.
const Closed = time.Hour

// mostEntries is how many decisions a Book remembers, and mostBytes how many bytes they may take, since a ConfigMap has room
// for 1 MiB. If all of them still count, no pod is moved.
const mostEntries, mostBytes = 2000, 1_000_000

// Cause is why a pod of a workload must leave a node.
type Cause struct {
	Namespace string            `json:"namespace"`
	Workload  workload.Workload `json:"workload"`
	Node      string            `json:"node"`
	// Reason is one word, such as NodeCapacity.
	Reason string `json:"reason"`
}

// Candidate is a pod that may move for a cause.
type Candidate struct {
	Cause
	Pod string
	UID types.UID
	// Rank says how readily the pod moves, and Rest how much room that makes, in any unit.
	Rank Rank
	Rest int64
	// Pods is how many pods its workload has, and Ready how many of them are ready.
	Pods, Ready int
	// Shares means that the pod has what it needs, and moves for its neighbors. Pods that lack something move first.
	Shares bool
}

// Rank is how readily a pod moves: those with a low rank move first.
type Rank uint8

// Ranks, in the order in which pods move. policy.EvictionRanks has their names, in the same order.
const (
	Low Rank = iota
	Medium
	High
	Never
)

// Entry is a decision to move a pod.
type Entry struct {
	Cause
	Pod string    `json:"pod"`
	UID types.UID `json:"uid"`
	// At is when the pod was last about to be evicted, and Chosen when it was chosen.
	At     time.Time `json:"at"`
	Chosen time.Time `json:"chosen,omitzero"`
	// Pods is how many pods its workload had when the pod was last about to be evicted, and Ready how many of them were ready.
	Pods  int `json:"pods,omitempty"`
	Ready int `json:"ready,omitempty"`
	// Cleared is when the cause went away, zero while it holds, and Returned when it had come back; zero if it has held all the time.
	Cleared  time.Time `json:"cleared,omitzero"`
	Returned time.Time `json:"returned,omitzero"`
	// Missed is when it became known that no ready pod has taken the place of the pod; zero if one has, or may still.
	Missed time.Time `json:"missed,omitzero"`
	// Refused means that the pod was certainly not evicted at At, and Unsure is when it last may have been before that; zero if never.
	Refused bool      `json:"refused,omitempty"`
	Unsure  time.Time `json:"unsure,omitzero"`
}

// Last returns when the pod last may have been evicted; zero if it certainly was not.
func (e *Entry) Last() time.Time {
	if e.Refused {
		return e.Unsure
	}
	return e.At
}

// NotEvicted reports whether the pod has certainly not been evicted.
func (e *Entry) NotEvicted() bool { return e.Refused && e.Unsure.IsZero() }

// counts reports whether the pod may have been evicted within the hour.
func (e *Entry) counts(now time.Time) bool { return now.Sub(e.Last()) < time.Hour }

// Settle takes note that the pod of an entry runs: what was sent takes effect within the hour, or never. It reports whether the book has
// changed, so that it must be stored.
func (e *Entry) Settle(now time.Time) (changed bool) {
	if e.NotEvicted() || e.counts(now) {
		return false
	}
	e.Refused, e.Unsure = true, time.Time{}
	return true
}

// blocks reports whether a candidate stays while the entry is in progress: because it is on the same node, or of the same workload. A
// pod that has certainly not been evicted blocks none in other namespaces.
func (e *Entry) blocks(c *Candidate) bool {
	return e.Namespace == c.Namespace && e.Workload == c.Workload || e.Node == c.Node && (!e.NotEvicted() || e.Namespace == c.Namespace)
}

// Book remembers which pods were moved, and why. A decision is written to it, and the book is stored, before the pod is
// evicted: a leader that continues after a crash knows of it, and evicts the same pod or none.
type Book struct {
	Entries []Entry
}

// WhyNot returns why a candidate may not move now; empty if it may. At most mostPerHour pods are moved within an hour. An entry that is in
// progress, because its pod is still there or its workload is not complete again, keeps other pods of the workload and of the node where
// they are. Of candidates that were chosen before, the first one is next, unless the pod of another entry is moving: it may be on its
// way. waits means that only other evictions come first.
func (b *Book) WhyNot(now time.Time, c *Candidate, mostPerHour int, inProgress, moving func(*Entry) bool) (why string, waits bool) {
	e := b.Of(c.UID)
	same := e != nil && e.Cause == c.Cause
	switch {
	case c.Rank >= Never:
		return "its rank is never", false
	case same && !e.Cleared.IsZero():
		return "its node has had room for it since " + e.Cleared.UTC().Format(time.RFC3339), false
	case !same && b.knows(c.Cause):
		return "another pod of its workload was chosen for the same node and reason already", false
	case !same && e != nil && e.counts(now):
		return "it may have been evicted for another reason, " + e.Reason, false
	case b.recent(now, "")-b.own(now, c) >= mostPerHour:
		return fmt.Sprintf("as many pods as eviction.maxPerHour allows, %d, were evicted within an hour, or may have been", mostPerHour), true
	case !same && b.Unfit(c) != "":
		return b.Unfit(c), false
	case (e == nil || e.NotEvicted()) && b.hasHalf(c.Namespace):
		return "half of the evictions that can be remembered are of its namespace", false
	case e == nil && 2*b.refusedLately(now, c.Namespace) >= max(mostPerHour, 2):
		return "others in its namespace were chosen within an hour, and could not be evicted", false
	}
	first := true
	for i := range b.Entries {
		o := &b.Entries[i]
		switch {
		case o == e:
			first = false
		case o.blocks(c) && (moving(o) || first && inProgress(o)):
			return "another pod of its workload or its node is moving", true
		}
	}
	return "", false
}

// Unfit returns why the cause of a candidate cannot be written to the book; empty if it can.
func (b *Book) Unfit(c *Candidate) string {
	switch {
	case !c.named():
		return "its workload has a kind or name that no object can have"
	case b.full() && !slices.ContainsFunc(b.Entries, func(e Entry) bool { return e.NotEvicted() && e.UID != c.UID }):
		return fmt.Sprintf("%d evictions are remembered, which is the most", len(b.Entries))
	}
	return ""
}

// full reports whether the book has no room for another entry.
func (b *Book) full() bool { return len(b.Entries) >= mostEntries || b.bytes() >= mostBytes }

// hasHalf reports whether pods in a namespace that may have been evicted take half of the book, so that others find room.
func (b *Book) hasHalf(namespace string) bool {
	entries, bytes := 0, 0
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Namespace == namespace && !e.NotEvicted() {
			entries++
			bytes += e.bytes()
		}
	}
	return 2*entries >= mostEntries || 2*bytes >= mostBytes
}

// makeRoom forgets pods that have certainly not been evicted, and lose only their turn, until the book has room: of the namespace that has
// most of them, the oldest.
func (b *Book) makeRoom(but types.UID) {
	for b.full() {
		of := map[string]int{}
		for i := range b.Entries {
			if e := &b.Entries[i]; e.NotEvicted() && e.UID != but {
				of[e.Namespace]++
			}
		}
		oldest := -1
		for i := range b.Entries {
			e := &b.Entries[i]
			if !e.NotEvicted() || e.UID == but {
				continue
			}
			if oldest < 0 || cmp.Or(cmp.Compare(of[b.Entries[oldest].Namespace], of[e.Namespace]), e.Chosen.Compare(b.Entries[oldest].Chosen)) < 0 {
				oldest = i
			}
		}
		if oldest < 0 {
			return
		}
		b.Entries = slices.Delete(b.Entries, oldest, oldest+1)
	}
}

// refusedLately returns how many pods in a namespace were chosen within the hour, and have not been evicted.
func (b *Book) refusedLately(now time.Time, namespace string) (n int) {
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Namespace == namespace && e.NotEvicted() && now.Sub(e.Chosen) < time.Hour {
			n++
		}
	}
	return n
}

// named reports whether an object can have the kind and the name of the workload. They may come from a reference to an owner,
// where the API server accepts any text of any length: a few such pods would fill the book, and nobody else's could move.
func (c *Cause) named() bool {
	return len(validation.IsDNS1035Label(strings.ToLower(c.Workload.Kind))) == 0 && len(validation.IsDNS1123Subdomain(c.Workload.Name)) == 0
}

// bytes returns how many bytes the book takes at most once nothing but times is added to it.
func (b *Book) bytes() (n int) {
	for i := range b.Entries {
		n += b.Entries[i].bytes()
	}
	return n
}

func (e *Entry) bytes() int {
	const others = 420 // The names of fields, the times and the numbers.
	return len(e.Namespace) + len(e.Workload.Kind) + len(e.Workload.Name) + len(e.Node) + len(e.Reason) + len(e.Pod) + len(e.UID) + others
}

// recent returns how many pods in a namespace, or in all if it is empty, may have been evicted within an hour.
func (b *Book) recent(now time.Time, namespace string) (n int) {
	for i := range b.Entries {
		if e := &b.Entries[i]; e.counts(now) && (namespace == "" || e.Namespace == namespace) {
			n++
		}
	}
	return n
}

// Full returns when the first of the evictions of the last hour no longer counts, if as many count as may within an hour; zero if fewer
// do.
func (b *Book) Full(now time.Time, mostPerHour int) (until time.Time) {
	if b.recent(now, "") < mostPerHour {
		return time.Time{}
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		if at := e.Last().Add(time.Hour); e.counts(now) && (until.IsZero() || at.Before(until)) {
			until = at
		}
	}
	return until
}

// HadHalf reports whether half of the evictions of an hour, rounded up, were in the namespace of a candidate, of other pods. While pods
// wait in others, none has more, so that it cannot keep these where they are.
func (b *Book) HadHalf(now time.Time, c *Candidate, mostPerHour int) bool {
	return 2*(b.recent(now, c.Namespace)-b.own(now, c)) >= mostPerHour
}

// Renews reports whether a candidate was chosen more than an hour ago, and another attempt would keep the hour full for others.
func (b *Book) Renews(now time.Time, c *Candidate, mostPerHour int) bool {
	e := b.Of(c.UID)
	return e != nil && e.counts(now) && now.Sub(e.Chosen) >= time.Hour && b.recent(now, "") >= mostPerHour
}

// own returns 1 if a candidate itself counts as evicted within the hour, or else 0.
func (b *Book) own(now time.Time, c *Candidate) int {
	if e := b.Of(c.UID); e != nil && e.counts(now) {
		return 1
	}
	return 0
}

// Decide writes to the book that a candidate is about to be evicted, for what cause now, and how many pods its workload has. It returns
// the entry; nil if the candidate may not move now. Each attempt counts for the hour until it is refused: any of them may be the one that
// succeeds.
func (b *Book) Decide(now time.Time, c *Candidate, mostPerHour int, inProgress, moving func(*Entry) bool) *Entry {
	if why, _ := b.WhyNot(now, c, mostPerHour, inProgress, moving); why != "" {
		return nil
	}
	if e := b.Of(c.UID); e == nil || e.Cause != c.Cause {
		if b.makeRoom(c.UID); b.full() {
			return nil
		}
	}
	e := b.Of(c.UID)
	switch {
	case e == nil:
		b.Entries = append(b.Entries, Entry{Pod: c.Pod, UID: c.UID, Chosen: now})
		e = &b.Entries[len(b.Entries)-1]
	case !e.Refused:
		e.Unsure = e.At
	}
	if e.Cause != c.Cause {
		e.Cause, e.Cleared, e.Returned = c.Cause, time.Time{}, time.Time{}
	}
	e.At, e.Refused, e.Pods, e.Ready = now, false, c.Pods, c.Ready
	return e
}

// Compare orders candidates: those that move first come first.
func Compare(a, b Candidate) int {
	shares := func(c *Candidate) int {
		if c.Shares {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(shares(&a), shares(&b)), cmp.Compare(b.Rest, a.Rest), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Pod, b.Pod))
}

// Of returns the entry of a pod; nil if there is none.
func (b *Book) Of(uid types.UID) *Entry {
	i := slices.IndexFunc(b.Entries, func(e Entry) bool { return e.UID == uid })
	if i < 0 {
		return nil
	}
	return &b.Entries[i]
}

// Refuse writes that a pod was not evicted when it was last about to be, at this time. It reports whether the book has changed, so that
// it must be stored.
func (b *Book) Refuse(uid types.UID, at time.Time) (changed bool) {
	e := b.Of(uid)
	if e == nil || !e.At.Equal(at) || e.Refused {
		return false
	}
	e.Refused = true
	return true
}

// knows reports whether a pod was already moved for a cause that is not closed.
func (b *Book) knows(c Cause) bool {
	return slices.ContainsFunc(b.Entries, func(e Entry) bool { return e.Cause == c })
}

// Clone returns a copy that shares nothing with the book.
func (b *Book) Clone() *Book {
	return &Book{slices.Clone(b.Entries)}
}

// Continue begins to use a book that another process has stored. Nobody looked meanwhile, so that a cause that was gone may have
// come back: it counts as holding until Review says otherwise. It reports whether the book has changed, so that it must be
// stored.
func (b *Book) Continue(now time.Time) (changed bool) {
	for i := range b.Entries {
		if e := &b.Entries[i]; !e.Cleared.IsZero() {
			e.Cleared, e.Returned, changed = time.Time{}, now, true
		}
	}
	return changed
}

// Due returns from when on the pod of an entry may move for its cause, which has held since then or came back, if it must have held
// for some time.
func (e *Entry) Due(after time.Duration) time.Time {
	if e.Returned.IsZero() {
		return e.Chosen
	}
	return e.Returned.Add(after)
}

// Review records which causes are gone, and forgets what no longer counts. It reports whether the book has changed, so that
// it must be stored. holds reports whether a cause holds now; what is not known holds. The clock of an earlier leader may
// have been ahead: times in the future become now, since they would count until then.
func (b *Book) Review(now time.Time, holds func(Cause) bool) (changed bool) {
	for i := range b.Entries {
		e := &b.Entries[i]
		for _, at := range [...]*time.Time{&e.At, &e.Chosen, &e.Cleared, &e.Returned, &e.Missed, &e.Unsure} {
			if at.After(now) {
				*at, changed = now, true
			}
		}
		switch held := holds(e.Cause); {
		case held && !e.Cleared.IsZero():
			e.Cleared, e.Returned, changed = time.Time{}, now, true
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
