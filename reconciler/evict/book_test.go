package evict

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

var begin = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func cause(name, node string) Cause {
	return Cause{Namespace: "shop", Workload: workload.Workload{Kind: "Deployment", Name: name}, Node: node, Reason: "ResizeDeferred"}
}

func candidate(name, node string, rank Rank, rest int64) Candidate {
	return Candidate{Cause: cause(name, node), Pod: name + "-1", UID: types.UID(name + "-1"), Rank: rank, Rest: rest}
}

// decide decides on candidates in the order in which they move, until one does.
func decide(b *Book, most int, now time.Time, candidates []Candidate, inProgress func(*Entry) bool) *Entry {
	for _, c := range slices.SortedFunc(slices.Values(candidates), Compare) {
		if e := b.Decide(now, &c, most, inProgress, nothing); e != nil {
			return e
		}
	}
	return nil
}

func nothing(*Entry) bool { return false }

func shares(c Candidate) Candidate {
	c.Shares = true
	return c
}

func TestDecide(t *testing.T) {
	for _, tc := range []struct {
		name       string
		most       int
		book       Book
		candidates []Candidate
		inProgress func(*Entry) bool
		want       string
	}{
		{"nobody", 1, Book{}, nil, nothing, ""},
		{"the lowest rank", 1, Book{}, []Candidate{candidate("a", "n1", High, 9), candidate("b", "n1", Medium, 9), candidate("c", "n1", Low, 1)}, nothing, "c-1"},
		{"the largest rest of a rank", 1, Book{}, []Candidate{candidate("a", "n1", Low, 1), candidate("b", "n1", Low, 2)}, nothing, "b-1"},
		{"the first name", 1, Book{}, []Candidate{candidate("b", "n1", Low, 1), candidate("a", "n1", Low, 1)}, nothing, "a-1"},
		{"never", 1, Book{}, []Candidate{candidate("a", "n1", Never, 1)}, nothing, ""},
		{"none at all", 0, Book{}, []Candidate{candidate("a", "n1", Low, 1)}, nothing, ""},
		{"not for the same cause", 9, Book{Entries: []Entry{{Cause: cause("a", "n1"), At: begin.Add(-2 * time.Hour)}}}, []Candidate{candidate("a", "n1", Low, 1), candidate("b", "n1", Low, 1)}, nothing, "b-1"},
		{"for a cause on another node", 9, Book{Entries: []Entry{{Cause: cause("a", "n1"), At: begin.Add(-2 * time.Hour)}}}, []Candidate{candidate("a", "n2", Low, 1)}, nothing, "a-1"},
		{"not next to one of the workload that is in progress", 9, Book{Entries: []Entry{{Cause: cause("a", "n1")}}}, []Candidate{candidate("a", "n2", Low, 1)}, func(*Entry) bool { return true }, ""},
		{"not next to one of the node that is in progress", 9, Book{Entries: []Entry{{Cause: cause("a", "n1")}}}, []Candidate{candidate("b", "n1", Low, 1)}, func(*Entry) bool { return true }, ""},
		{"elsewhere meanwhile", 9, Book{Entries: []Entry{{Cause: cause("a", "n1")}}}, []Candidate{candidate("b", "n2", Low, 1)}, func(*Entry) bool { return true }, "b-1"},
		{"no more this hour", 1, Book{Entries: []Entry{{Cause: cause("a", "n1"), At: begin.Add(-59 * time.Minute)}}}, []Candidate{candidate("b", "n2", Low, 1)}, nothing, ""},
		{"more if one was refused", 1, Book{Entries: []Entry{{Cause: cause("a", "n1"), At: begin.Add(-59 * time.Minute), Refused: true}}}, []Candidate{candidate("b", "n2", Low, 1)}, nothing, "b-1"},
		{"one that lacks something first", 1, Book{}, []Candidate{shares(candidate("a", "n1", Low, 9)), candidate("b", "n1", Low, 1)}, nothing, "b-1"},
		{"again after an hour", 1, Book{Entries: []Entry{{Cause: cause("a", "n1"), At: begin.Add(-time.Hour)}}}, []Candidate{candidate("b", "n2", Low, 1)}, nothing, "b-1"},
		{"a book that is full", 1, Book{Entries: make([]Entry, mostEntries)}, []Candidate{candidate("b", "n2", Low, 1)}, nothing, ""},
		{"a book of many bytes", 1, Book{Entries: longest(700)}, []Candidate{candidate("b", "n2", Low, 1)}, nothing, "b-1"},
		{"a book of too many bytes", 1, Book{Entries: longest(800)}, []Candidate{candidate("b", "n2", Low, 1)}, nothing, ""},
		{"a name that no object can have", 1, Book{}, []Candidate{candidate(strings.Repeat("a", 254), "n1", Low, 1), candidate("<", "n1", Low, 1)}, nothing, ""},
		{"a kind that no object can have", 1, Book{}, []Candidate{{Cause: Cause{Workload: workload.Workload{Kind: strings.Repeat("A", 64), Name: "a"}}}}, nothing, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := len(tc.book.Entries)
			e := decide(&tc.book, tc.most, begin, tc.candidates, tc.inProgress)
			switch {
			case e == nil && (tc.want != "" || len(tc.book.Entries) != before):
				t.Errorf("nothing moves, want %q", tc.want)
			case e != nil && (e.Pod != tc.want || !e.At.Equal(begin) || len(tc.book.Entries) != before+1):
				t.Errorf("got %+v, want %q", e, tc.want)
			}
		})
	}
}

// longest returns entries with the longest names that objects can have.
func longest(n int) (all []Entry) {
	long := strings.Repeat("n", 253)
	c := Cause{Namespace: long[:63], Workload: workload.Workload{Kind: long[:63], Name: long}, Node: long, Reason: "ResizeInfeasible"}
	for range n {
		all = append(all, Entry{Cause: c, Pod: long, UID: types.UID(long[:36]), At: begin.Add(-2*time.Hour + 1), Chosen: begin.Add(-2*time.Hour + 1), Pods: 100_000, Ready: 100_000, Cleared: begin.Add(1), Returned: begin.Add(1), Missed: begin.Add(1), Refused: true, Unsure: begin.Add(-2*time.Hour + 1)})
	}
	return all
}

func TestBytes(t *testing.T) {
	for _, n := range []int{1, 100, 1000} {
		b := Book{Entries: longest(n)}
		text, err := json.Marshal(b.Entries)
		if got := b.bytes(); err != nil || got < len(text) || got > len(text)+100*n {
			t.Errorf("%d entries: %d bytes are assumed, they have %d (%v)", n, got, len(text), err)
		}
	}
}

func TestReview(t *testing.T) {
	b := Book{}
	decide(&b, 9, begin, []Candidate{candidate("a", "n1", Low, 1)}, nothing)
	holds := true
	review := func(after time.Duration, changed bool, left int) {
		t.Helper()
		if got := b.Review(begin.Add(after), func(Cause) bool { return holds }); got != changed || len(b.Entries) != left {
			t.Errorf("after %s: changed %v, %d entries, want %v and %d", after, got, len(b.Entries), changed, left)
		}
	}
	review(30*time.Hour, false, 1) // It holds as long as it holds.
	holds = false
	review(31*time.Hour, true, 1)
	review(31*time.Hour+59*time.Minute, false, 1)
	holds = true
	review(31*time.Hour+59*time.Minute+1, true, 1) // It has come back before it was closed.
	holds = false
	review(33*time.Hour, true, 1)
	review(34*time.Hour, true, 0)
}

// TestNeverTwice moves pods of random workloads for causes that come and go, while the process crashes at random: what was
// not stored is lost, and a pod is evicted only after its decision was stored. No cause moves two pods before it was gone for
// an hour, at most as many move an hour as may, and none moves next to one in progress.
func TestNeverTwice(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		most := 1 + r.IntN(6)
		book, stored := &Book{}, []byte(`{}`)
		holding, goneSince := map[Cause]bool{}, map[Cause]time.Time{}
		open := map[Cause]bool{} // A pod has moved, and the cause was not gone for an hour since.
		inProgress := map[types.UID]time.Time{}
		var hour []time.Time
		now, pods := begin, 0
		store := func() bool {
			if r.IntN(8) == 0 { // The process crashes before it has stored the book.
				book = &Book{}
				if err := json.Unmarshal(stored, book); err != nil {
					t.Fatal(err)
				}
				book.Continue(now)
				return false
			}
			var err error
			if stored, err = json.Marshal(book); err != nil {
				t.Fatal(err)
			}
			return true
		}
		for range 200 {
			now = now.Add(time.Duration(r.IntN(20)) * time.Minute)
			var candidates []Candidate
			for w := range 4 {
				for n := range 3 {
					c := cause(fmt.Sprintf("w%d", w), fmt.Sprintf("n%d", n))
					if r.IntN(6) == 0 {
						if holding[c] = !holding[c]; !holding[c] {
							goneSince[c] = now
						}
					}
					if !holding[c] && now.Sub(goneSince[c]) >= Closed {
						delete(open, c)
					}
					if holding[c] {
						pods++
						candidates = append(candidates, Candidate{Cause: c, Pod: fmt.Sprint(pods), UID: types.UID(fmt.Sprint(pods)), Rank: Rank(r.IntN(4)), Rest: r.Int64N(100)})
					}
				}
			}
			if book.Review(now, func(c Cause) bool { return holding[c] }) && !store() {
				continue
			}
			going := func(e *Entry) bool { return now.Before(inProgress[e.UID]) }
			e := decide(book, most, now, candidates, going)
			if e == nil {
				continue
			}
			entry := *e
			if !store() {
				continue
			}
			// The pod is evicted.
			if open[entry.Cause] {
				t.Fatalf("seed %d: a second pod moves for %+v", seed, entry.Cause)
			}
			for i := range book.Entries {
				o := &book.Entries[i]
				if o.UID != entry.UID && going(o) && (o.Node == entry.Node || o.Workload == entry.Workload) {
					t.Fatalf("seed %d: %+v moves next to %+v", seed, entry, o)
				}
			}
			open[entry.Cause], inProgress[entry.UID] = true, now.Add(time.Duration(r.IntN(40))*time.Minute)
			hour = append(hour, now)
			recent := 0
			for _, at := range hour {
				if now.Sub(at) < time.Hour {
					recent++
				}
			}
			if recent > most {
				t.Fatalf("seed %d: %d pods move within an hour, of at most %d", seed, recent, most)
			}
		}
	}
}

// TestClocks lets an earlier leader with another clock decide in the future.
func TestClocks(t *testing.T) {
	b := Book{}
	decide(&b, 1, begin.AddDate(10, 0, 0), []Candidate{candidate("a", "n1", Low, 1)}, nothing)
	review := func(now time.Time) bool { return b.Review(now, func(Cause) bool { return false }) }
	if !review(begin) || b.Entries[0].Chosen.After(begin) {
		t.Errorf("the book has not changed: %+v", b.Entries)
	}
	if decide(&b, 1, begin.Add(time.Hour), []Candidate{candidate("b", "n2", Low, 1)}, nothing) == nil {
		t.Error("what was decided in the future counts for the hour until then")
	}
	if review(begin.Add(time.Hour)); b.Of("a-1") != nil {
		t.Error("what was decided in the future is remembered until then")
	}
}
