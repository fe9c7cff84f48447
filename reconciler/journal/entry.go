package journal

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Age is how long entries are kept.
const Age = 30 * 24 * time.Hour

// Kind is what an entry is about.
type Kind string

const (
	// Resize is the resizes, or the restores, of the pods of a workload in an hour.
	Resize Kind = "Resize"
	// Revert is a resize of a pod that was reverted.
	Revert Kind = "Revert"
	// Eviction is a pod that was evicted so that it gets its size on another node.
	Eviction Kind = "Eviction"
	// Breaker is a breaker that opened, or was reset.
	Breaker Kind = "Breaker"
	// Hold is a pause or a restore that began, changed or ended.
	Hold Kind = "Hold"
	// Freeze is a freeze that began or ended.
	Freeze Kind = "Freeze"
	// Override is a ratio that was overridden, which includes accepted suggestions.
	Override Kind = "Override"
	// Gap is a time of which the journal does not know everything.
	Gap Kind = "Gap"
)

// Kinds has all kinds.
var Kinds = []Kind{Resize, Revert, Eviction, Breaker, Hold, Freeze, Override, Gap}

// Class is what segments contain.
type Class string

// The classes.
const (
	Resizes Class = "resizes"
	Acts    Class = "acts"
)

// Class returns the class of entries of the kind.
func (k Kind) Class() Class {
	if k == Resize {
		return Resizes
	}
	return Acts
}

// Entry is one entry. It must not be changed once it is in a segment. Its times are in whole seconds.
type Entry struct {
	Kind Kind
	// At is when it happened, first if it happened several times, and Last is when it happened last, or when
	// the gap ended; zero if it happened once.
	At, Last time.Time
	// Namespace is empty if the entry is about the cluster.
	Namespace string
	// Workload is what the pod or pods count for, as in lists of workloads. Of holds and breakers, it is their scope. Earlier servers recorded
	// the topmost owner of pods.
	Workload  workload.Workload
	Pod, Node string
	// Author is who did it, as holds and overrides have it; empty if nobody knows.
	Author string
	// Reason is a documented reason, or what the author gave as the reason.
	Reason string
	// Message is what led to it, such as the evidence for a revert.
	Message string
	// From and To are the state before and after it. Of resizes, Sizes has it.
	From, To string
	Sizes    Sizes
	// Count is how many times it happened, and Pods to how many pods; 0 for what is one act.
	Count, Pods int64
	// Ref distinguishes what happened from everything else of its kind that happened to the same object.
	Ref string
}

// longest is how many bytes each string of an entry has at most. Owners of pods name kinds and workloads as they like.
const longest = 512

// bounded returns the entry as it can be stored.
func (e Entry) bounded() Entry {
	e.At, e.Last = seconds(e.At), seconds(e.Last)
	if !e.Last.After(e.At) {
		e.Last = time.Time{}
	}
	if e.Workload.Kind == "" || e.Workload.Name == "" || strings.Contains(e.Workload.Kind, "/") {
		e.Workload = workload.Workload{}
	}
	for _, text := range []*string{
		&e.Namespace, &e.Workload.Kind, &e.Workload.Name, &e.Pod, &e.Node, &e.Author, &e.Reason, &e.Message, &e.From, &e.To, &e.Ref,
	} {
		*text = trimmed(*text)
	}
	return e
}

func trimmed(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), 2*longest)], "\uFFFD")
	if len(text) <= longest {
		return text
	}
	cut := longest
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// ID identifies the entry: two entries with the same ID are about the same.
func (e *Entry) ID() string {
	return strings.Join([]string{string(e.Kind), e.Namespace, e.Workload.Kind, e.Workload.Name, e.Pod, e.Ref}, "\x00")
}

// Hash returns a short form of ID, for the order of entries of the same time.
func (e *Entry) Hash() uint64 {
	h := fnv.New64a()
	h.Write([]byte(e.ID()))
	return h.Sum64()
}

// End returns when it happened last.
func (e *Entry) End() time.Time {
	if e.Last.IsZero() {
		return e.At
	}
	return e.Last
}

// with returns the entry together with another one of the same ID, which was recorded later.
func (e *Entry) with(later *Entry) Entry {
	sum := *e
	if e.Kind != Resize {
		if e.Author == "" && later.Author != "" {
			sum, sum.At = *later, e.At // It was known that it happened, and now it is known who did it.
		}
		return sum
	}
	if later.At.Before(sum.At) {
		sum.At = later.At
	}
	last := e.End()
	if later.End().After(last) {
		last, sum.Message = later.End(), later.Message
	}
	sum.Last = time.Time{}
	if last.After(sum.At) {
		sum.Last = last
	}
	sum.Count += later.Count
	sum.Pods += later.Pods
	sum.Sizes = e.Sizes.with(later.Sizes)
	return sum
}

// ActsOf returns the acts in segments by their IDs. An act that is in two segments, since it was recorded again, is one.
func ActsOf(segments []*Segment) map[string]*Entry {
	acts := map[string]*Entry{}
	for _, s := range segments {
		if s == nil || s.Class != Acts {
			continue
		}
		for i := range s.Entries {
			e := &s.Entries[i]
			id := e.ID()
			if known := acts[id]; known != nil {
				both := known.with(e)
				e = &both
			}
			acts[id] = e
		}
	}
	return acts
}

// Sorted returns the entries of segments, the newest first, without those that are too old. Resizes of an hour that are
// in two segments, since the first was full, are two entries.
func Sorted(segments []*Segment, now time.Time) []*Entry {
	count := 0
	for _, s := range segments {
		count += s.len()
	}
	type hashed struct {
		*Entry
		hash uint64
	}
	all := make([]hashed, 0, count)
	add := func(e *Entry) {
		if now.Sub(e.End()) <= Age {
			all = append(all, hashed{e, e.Hash()})
		}
	}
	for _, s := range segments {
		for i := range s.len() {
			if s.Class == Resizes {
				add(&s.Entries[i])
			}
		}
	}
	for _, e := range ActsOf(segments) {
		add(e)
	}
	slices.SortFunc(all, func(a, b hashed) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.hash, a.hash)) })
	sorted := make([]*Entry, len(all))
	for i := range all {
		sorted[i] = all[i].Entry
	}
	return sorted
}
