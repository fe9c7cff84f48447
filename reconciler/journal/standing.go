package journal

import (
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// None is the state in which nothing holds.
const None = "none"

// ended starts the Ref of the entry for the end of what the rest of it refers to.
const ended = "end "

// standing identifies what there is at most one of at a time, such as the pause of a namespace.
type standing struct {
	kind           Kind
	namespace, pod string
	workload       workload.Workload
	// what is the first word of the Ref.
	what string
}

func standingOf(e *Entry) (s standing, isEnd bool) {
	ref, isEnd := strings.CutPrefix(e.Ref, ended)
	what, _, _ := strings.Cut(ref, " ")
	return standing{e.Kind, e.Namespace, e.Pod, e.Workload, what}, isEnd
}

// Ended returns the entry for the end of what another entry has begun.
func Ended(began Entry, at time.Time, author, reason string) Entry {
	e := began
	e.At, e.Last, e.Author, e.Reason, e.Message = seconds(at), time.Time{}, author, reason, ""
	e.From, e.To, e.Ref = began.To, None, ended+began.Ref
	return e
}

// Changes returns what is not in the journal yet of what stands now: holds, breakers and the freeze, each as the entry for
// its beginning. If the journal has what no longer stands, that has ended by now. known has the entries of the
// journal, the newest first.
func Changes(known []*Entry, now []Entry, at time.Time) (changes []Entry) {
	ids, last := map[string]bool{}, map[standing]*Entry{}
	for _, e := range known {
		switch e.Kind {
		case Hold, Breaker, Freeze:
			ids[e.ID()] = true
			if s, isEnd := standingOf(e); !isEnd && last[s] == nil {
				last[s] = e
			}
		}
	}
	isOver := func(e *Entry) bool {
		end := Ended(*e, at, "", "")
		return ids[end.ID()]
	}
	stands := map[standing]bool{}
	for i := range now {
		e := now[i]
		s, _ := standingOf(&e)
		stands[s] = true
		if ids[e.ID()] || at.Sub(e.At) > Age {
			continue
		}
		if before := last[s]; before != nil && !isOver(before) {
			e.From = before.To // It was changed, and keeps its beginning.
			if e.At.Compare(before.At) <= 0 {
				e.At = seconds(at)
			}
		}
		changes = append(changes, e)
	}
	for s, e := range last {
		if !stands[s] && !isOver(e) {
			changes = append(changes, Ended(*e, at, "", ""))
		}
	}
	return changes
}
