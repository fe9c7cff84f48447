package changelog

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// at is a place that is named in tokens as it is.
func at(place uint64) Place { return Place{Token: place, Reached: place} }

func TestResumeElsewhere(t *testing.T) {
	t.Run("after the newest time with the same state", afterTheNewestTimeWithTheSameState)
	t.Run("with the first event that reached the version", withTheFirstEventThatReachedTheVersion)
	t.Run("only if all changes since the token are known", onlyIfAllChangesSinceTheTokenAreKnown)
	t.Run("from where a log has moved on without events", fromWhereALogHasMovedOnWithoutEvents)
	t.Run("with the whole update that the token is in the middle of", withTheWholeUpdate)
}

// tokenAfter returns the token of a reader of the log that has read everything.
func tokenAfter(t *testing.T, l *Log[int]) string {
	t.Helper()
	_, r := l.Begin("shop")
	drain(t, r)
	return r.Token()
}

func resumed(t *testing.T, l *Log[int], token string) []string {
	t.Helper()
	r, err := l.Resume("shop", token)
	if err != nil {
		t.Fatal(err)
	}
	return drain(t, r)
}

func afterTheNewestTimeWithTheSameState(t *testing.T) {
	a, b := New[int](16, Digests), New[int](16, Digests)
	a.Update(at(7), set("a", 1))
	token := tokenAfter(t, a)
	b.Update(at(7), set("a", 1))
	b.Update(at(8), set("a", 2))
	b.Update(at(7), set("a", 1))
	b.Update(at(9), set("a", 3), set("b", 1))
	if diff := cmp.Diff([]string{"modified a 3", "added b 1"}, resumed(t, b, token)); diff != "" {
		t.Error(diff)
	}
	// The token of the second replica leads on to the third.
	if got := resumed(t, b, tokenAfter(t, b)); got != nil {
		t.Errorf("sent again: %q", got)
	}
	if _, err := New[int](16, Digests).Resume("shop", token); !errors.Is(err, ErrExpired) {
		t.Errorf("on a replica that never had the state: %v", err)
	}
}

func withTheFirstEventThatReachedTheVersion(t *testing.T) {
	a, b := New[int](16, Versions), New[int](16, Versions)
	a.Update(at(20), set("a", 1))
	b.Update(at(10), set("c", 1))
	b.Since(10)
	b.Update(at(19), set("b", 1))
	b.Update(at(20), set("a", 1))
	b.Update(at(20), set("a", 2)) // Changed by something else than a new version.
	b.Update(at(21), drop("b"))
	if diff := cmp.Diff([]string{"modified a 1", "modified a 2", "deleted b 1"}, tail(resumed(t, b, tokenAfter(t, a)))); diff != "" {
		t.Error(diff)
	}
}

// tail renames the first event, which adds the item on the replica that continues.
func tail(events []string) []string {
	if len(events) > 0 && events[0] == "added a 1" {
		events[0] = "modified a 1"
	}
	return events
}

func onlyIfAllChangesSinceTheTokenAreKnown(t *testing.T) {
	a := New[int](16, Versions)
	a.Update(at(20), set("a", 1))
	token := tokenAfter(t, a)
	for _, tc := range []struct {
		name  string
		since uint64
		last  uint64
		want  error
	}{
		{"a log that is not complete yet", 0, 30, ErrExpired},
		{"a log that began later", 21, 30, ErrExpired},
		{"a log that began then", 20, 30, nil},
		{"a log that lags behind", 5, 19, nil},
		{"a log that has dropped events since", 5, 60, ErrExpired},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := New[int](16, Versions)
			for version := uint64(11); version <= tc.last; version++ {
				b.Update(at(version), set("a", int(version)))
			}
			b.Since(tc.since)
			if _, err := b.Resume("shop", token); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
		})
	}
}

func fromWhereALogHasMovedOnWithoutEvents(t *testing.T) {
	a, b := New[int](16, Versions), New[int](16, Versions)
	a.Update(at(20), set("a", 1))
	b.Since(30)
	_, r := a.Begin("shop")
	a.Update(at(40))
	if _, more, err := r.Next(); more == nil || err != nil {
		t.Fatalf("an event, or %v", err)
	}
	token := r.Token()
	if _, err := b.Resume("shop", token); err != nil {
		t.Errorf("on a replica that began before that: %v", err)
	}
	behind := New[int](16, Versions)
	behind.Update(at(25))
	behind.Since(10)
	resumed, err := behind.Resume("shop", token)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := resumed.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Resume("shop", resumed.Token()); err != nil {
		t.Errorf("after a replica that lags behind: %v", err)
	}
}

func withTheWholeUpdate(t *testing.T) {
	a, b := New[int](16, Digests), New[int](16, Digests)
	for _, l := range []*Log[int]{a, b} {
		l.Update(at(1), set("a", 1))
	}
	_, r := a.Begin("shop")
	for _, l := range []*Log[int]{a, b} {
		l.Update(at(2), set("a", 2), set("b", 2))
	}
	if _, _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"modified a 2", "added b 2"}, resumed(t, b, r.Token())); diff != "" {
		t.Error(diff)
	}
}
