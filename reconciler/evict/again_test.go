package evict

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// chosen returns the entry of a pod that was chosen two hours ago, changed.
func chosen(change func(*Entry)) Entry {
	e := Entry{Cause: cause("a", "n1"), Pod: "a-1", UID: "a-1", Chosen: begin.Add(-2 * time.Hour), At: begin.Add(-2 * time.Hour)}
	change(&e)
	return e
}

// TestAgain evicts a pod again that could not be evicted before.
func TestAgain(t *testing.T) {
	other := func(at time.Duration, refused bool) Entry {
		return Entry{Cause: cause("b", "n2"), Pod: "b-1", UID: "b-1", Chosen: begin.Add(at), At: begin.Add(at), Refused: refused}
	}
	same := func(*Entry) {}
	for _, tc := range []struct {
		name  string
		book  []Entry
		cause Cause
		want  bool
	}{
		{"it was chosen", []Entry{chosen(same)}, cause("a", "n1"), true},
		{"its cause is gone", []Entry{chosen(func(e *Entry) { e.Cleared = begin })}, cause("a", "n1"), false},
		{"its cause is gone, but another one holds", []Entry{chosen(func(e *Entry) { e.Cleared = begin })}, cause("a", "n3"), true},
		{"another one holds, too, for which another pod was chosen", []Entry{chosen(same), {Cause: cause("a", "n3"), UID: "a-2"}}, cause("a", "n3"), false},
		{"its own attempt does not keep it", []Entry{chosen(func(e *Entry) { e.At = begin.Add(-time.Minute) })}, cause("a", "n1"), true},
		{"another pod has had the hour", []Entry{chosen(same), other(-time.Minute, false)}, cause("a", "n1"), false},
		{"it may have been evicted for its first cause", []Entry{chosen(func(e *Entry) { e.At, e.Cleared = begin.Add(-59*time.Minute), begin })}, cause("a", "n3"), false},
		{"its other cause has a name that no object can have", []Entry{chosen(same)}, cause("<", "n1"), false},
		{"another pod was refused", []Entry{chosen(same), other(-time.Minute, true)}, cause("a", "n1"), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := &Book{tc.book}
			c := candidate("a", "n1", Low, 1)
			c.Cause, c.Pods, c.Ready = tc.cause, 3, 2
			e := b.Decide(begin, &c, 1, nothing, nothing)
			if (e != nil) != tc.want {
				t.Fatalf("got %+v", e)
			}
			if e != nil && (e.Cause != tc.cause || !e.Cleared.IsZero() || !e.At.Equal(begin) || e.Pods != 3 || e.Ready != 2) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestRefuse writes what is certain of an attempt: the next one is another.
func TestRefuse(t *testing.T) {
	b := &Book{[]Entry{chosen(func(*Entry) {})}}
	at := b.Entries[0].At
	if b.Refuse("b-1", at) || b.Refuse("a-1", begin) || b.Entries[0].Refused {
		t.Errorf("another attempt was refused: %+v", b.Entries)
	}
	if !b.Refuse("a-1", at) || !b.Entries[0].Refused || b.Refuse("a-1", at) {
		t.Errorf("%+v", b.Entries)
	}
	c := candidate("a", "n1", Low, 1)
	if e := b.Decide(begin, &c, 1, nothing, nothing); e == nil || e.Refused || !e.Unsure.IsZero() {
		t.Errorf("%+v", e)
	}
}

// TestUnsure loses the answer to an attempt, and refuses the next ones: the first one may still take effect, within the hour.
func TestUnsure(t *testing.T) {
	b := &Book{[]Entry{chosen(func(e *Entry) { e.At = begin })}}
	c := candidate("a", "n1", Low, 1)
	for _, after := range []time.Duration{time.Minute, 50 * time.Minute} {
		b.Decide(begin.Add(after), &c, 1, nothing, nothing)
		b.Refuse("a-1", begin.Add(after))
	}
	if at := b.Full(begin.Add(55*time.Minute), 1); !at.Equal(begin.Add(time.Hour)) {
		t.Errorf("the hour is full until %s", at)
	}
	e, other := &b.Entries[0], candidate("b", "n2", Low, 1)
	for after, want := range map[time.Duration]bool{59 * time.Minute: false, time.Hour: true} {
		if why, _ := b.WhyNot(begin.Add(after), &other, 1, nothing, nothing); (why == "") != want {
			t.Errorf("after %s: %q", after, why)
		}
	}
	if e.Settle(begin.Add(59*time.Minute)) || e.NotEvicted() {
		t.Error("it is certain too early")
	}
	stranger := candidate("b", "n1", Low, 1)
	stranger.Namespace = "bank"
	if why, _ := b.WhyNot(begin.Add(2*time.Minute), &stranger, 10, func(*Entry) bool { return true }, nothing); why == "" {
		t.Error("it no longer keeps another pod of its node")
	}
	if !e.Settle(begin.Add(time.Hour)) || !e.NotEvicted() || e.Settle(begin.Add(time.Hour)) {
		t.Error("it is not certain")
	}
}

// TestMakesRoom fills a book with pods that have certainly not been evicted: another one takes the place of the oldest.
func TestMakesRoom(t *testing.T) {
	old := begin.Add(-2 * time.Hour)
	b := &Book{[]Entry{{Cause: Cause{Namespace: "bank"}, UID: "bank", Chosen: old.Add(-time.Hour), At: old, Refused: true}, {UID: "evicted", Chosen: old, At: old}}}
	for i := len(b.Entries); i < mostEntries; i++ {
		b.Entries = append(b.Entries, Entry{Cause: Cause{Namespace: "mine"}, UID: types.UID(fmt.Sprint(i)), Chosen: old.Add(time.Duration(-i)), At: old, Refused: true})
	}
	c := candidate("a", "n1", Low, 1)
	if b.Decide(begin, &c, 9, nothing, nothing) == nil || len(b.Entries) != mostEntries || b.Of("bank") == nil || b.Of("evicted") == nil || b.Of(types.UID(fmt.Sprint(mostEntries-1))) != nil {
		t.Errorf("%d entries; bank %v, evicted %v", len(b.Entries), b.Of("bank"), b.Of("evicted"))
	}
	own := candidate("x", "n9", Low, 1)
	own.UID = "2"
	if e := b.Decide(begin, &own, 9, nothing, nothing); e == nil || e.Cause != own.Cause || e.UID != "2" {
		t.Errorf("%+v", e)
	}
}

// TestHalfOfBook fills half of a book with pods in a namespace that were evicted: the other half is for others.
func TestHalfOfBook(t *testing.T) {
	for _, tc := range []struct {
		entries []Entry
		full    bool
	}{{make([]Entry, mostEntries/2-1), false}, {make([]Entry, mostEntries/2), true}, {longest(300), false}, {longest(400), true}} {
		b := &Book{tc.entries}
		for i := range b.Entries {
			b.Entries[i].Namespace = "mine"
		}
		mine, chosen, other := candidate("a", "n1", Low, 1), candidate("c", "n1", Low, 1), candidate("b", "n1", Low, 1)
		mine.Namespace, chosen.Namespace = "mine", "mine"
		b.Entries = append(b.Entries, Entry{Cause: chosen.Cause, UID: chosen.UID, Refused: true})
		for c, want := range map[*Candidate]bool{&mine: tc.full, &chosen: tc.full, &other: false} {
			if why, _ := b.WhyNot(begin, c, mostEntries, nothing, nothing); (why != "") != want {
				t.Errorf("%d entries: %s of %s: %q", len(b.Entries), c.Pod, c.Namespace, why)
			}
		}
	}
}

// TestRenews lets a pod try again and again without an answer.
func TestRenews(t *testing.T) {
	b := &Book{[]Entry{chosen(func(e *Entry) { e.At = begin })}}
	c := candidate("a", "n1", Low, 1)
	if !b.Renews(begin, &c, 1) || b.Renews(begin, &c, 2) || b.Renews(begin.Add(time.Hour), &c, 1) {
		t.Error("with a chosen pod")
	}
	b.Entries[0].Chosen = begin.Add(-time.Minute)
	if b.Renews(begin, &c, 1) {
		t.Error("with a pod that was just chosen")
	}
}

// TestKeeps lets pods in a namespace be refused: they keep no others, and no more of their namespace are chosen than half of the hour.
func TestKeeps(t *testing.T) {
	refused := func(name, node string) Entry {
		return Entry{Cause: cause(name, node), UID: "x", Chosen: begin, At: begin, Refused: true}
	}
	always := func(*Entry) bool { return true }
	b := &Book{[]Entry{refused("a", "n1"), refused("b", "n2")}}
	mine, stranger := candidate("c", "n1", Low, 1), candidate("a", "n1", Low, 1)
	stranger.Namespace = "bank"
	for _, tc := range []struct {
		c    Candidate
		most int
		want bool
	}{{stranger, 2, true}, {mine, 10, false}, {candidate("d", "n4", Low, 1), 4, false}, {candidate("d", "n4", Low, 1), 5, true}} {
		if why, _ := b.WhyNot(begin, &tc.c, tc.most, always, nothing); (why == "") != tc.want {
			t.Errorf("%+v of %d: %q", tc.c, tc.most, why)
		}
	}
	if why, _ := b.WhyNot(begin.Add(time.Hour), &Candidate{Cause: cause("d", "n4")}, 4, always, nothing); why != "" {
		t.Errorf("an hour later: %q", why)
	}
}

// TestDue lets causes go away and come back.
func TestDue(t *testing.T) {
	b := &Book{[]Entry{chosen(func(*Entry) {})}}
	due := func(want time.Time) {
		t.Helper()
		if got := b.Entries[0].Due(10 * time.Minute); !got.Equal(want) {
			t.Errorf("due at %s, want %s", got, want)
		}
	}
	review := func(at time.Time, holds bool) { b.Review(at, func(Cause) bool { return holds }) }
	due(begin.Add(-2 * time.Hour))
	review(begin, false)
	review(begin.Add(time.Minute), true)
	due(begin.Add(11 * time.Minute))
	review(begin.Add(20*time.Minute), false)
	b.Continue(begin.Add(30 * time.Minute))
	due(begin.Add(40 * time.Minute))
	c := candidate("a", "n2", Low, 1)
	b.Decide(begin.Add(time.Hour), &c, 1, nothing, nothing)
	due(begin.Add(-2 * time.Hour))
}

// TestMoving lets two pods of a node be chosen: the first one is next, unless the other one is moving.
func TestMoving(t *testing.T) {
	b := &Book{[]Entry{chosen(func(e *Entry) { e.Refused = true }), {Cause: cause("b", "n1"), UID: "b-1", Refused: true}}}
	first, second := candidate("a", "n1", Low, 1), candidate("b", "n1", Low, 1)
	always := func(*Entry) bool { return true }
	for _, tc := range []struct {
		c      Candidate
		moving func(*Entry) bool
		want   bool
	}{{first, nothing, true}, {second, nothing, false}, {first, always, false}, {second, always, false}} {
		if why, waits := b.WhyNot(begin, &tc.c, 9, always, tc.moving); (why == "") != tc.want || waits != !tc.want {
			t.Errorf("%s: %q, waits: %t", tc.c.Pod, why, waits)
		}
	}
}

// TestHadHalf counts what other pods have had.
func TestHadHalf(t *testing.T) {
	b := &Book{[]Entry{chosen(func(e *Entry) { e.At = begin }), {Cause: cause("b", "n2"), UID: "b-1", At: begin}}}
	own, next := candidate("a", "n1", Low, 1), candidate("c", "n3", Low, 1)
	if b.HadHalf(begin, &own, 3) || !b.HadHalf(begin, &next, 3) || b.HadHalf(begin, &next, 5) {
		t.Error("half is wrong")
	}
}
