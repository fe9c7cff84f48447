package changelog

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func set(key string, value int) Change[int] { return Change[int]{Key: key, Item: &value} }
func drop(key string) Change[int]           { return Change[int]{Key: key, Gone: true} }

// drain reads all available events.
func drain(t *testing.T, r *Reader[int]) []string {
	t.Helper()
	var got []string
	for {
		e, more, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if more != nil {
			return got
		}
		got = append(got, describe(e))
	}
}

func describe(e Event[int]) string {
	return fmt.Sprintf("%s %s %d", [...]string{Added: "added", Modified: "modified", Deleted: "deleted"}[e.Kind], e.Key, *e.Item)
}

func TestLog(t *testing.T) {
	t.Run("a reader gets the current state and then every change", aReaderGetsTheCurrentStateAndThenEveryChange)
	t.Run("an update without changes wakes no reader", anUpdateWithoutChangesWakesNoReader)
	t.Run("readers that begin together share a large snapshot", readersThatBeginTogetherShareALargeSnapshot)
	t.Run("a token resumes where it was issued", aTokenResumesWhereItWasIssued)
	t.Run("a reader that is too far behind is cut off and can resume", aReaderThatIsTooFarBehindIsCutOffAndCanResume)
	t.Run("an event has the item before it", anEventHasTheItemBeforeIt)
	t.Run("every reader sees all events in order", everyReaderSeesAllEventsInOrder)
}

func aReaderGetsTheCurrentStateAndThenEveryChange(t *testing.T) {
	f := New[int](16, Digests)
	f.Update(Place{}, set("b", 1), set("a", 1), set("c", 1), drop("c"))
	state, r := f.Begin("")
	var present []string
	for _, e := range state.Items {
		present = append(present, describe(e))
	}
	if diff := cmp.Diff([]string{"added a 1", "added b 1"}, present); diff != "" {
		t.Error(diff)
	}
	f.Update(Place{}, set("a", 2))
	last := 7
	f.Update(Place{}, drop("b"), drop("never there"), set("d", 1), Change[int]{Key: "d", Item: &last, Gone: true})
	if diff := cmp.Diff([]string{"modified a 2", "deleted b 1", "added d 1", "deleted d 7"}, drain(t, r)); diff != "" {
		t.Error(diff)
	}
	if got := f.Get("a"); got == nil || *got != 2 {
		t.Errorf("a is %v", got)
	}
	if got := f.Get("b"); got != nil {
		t.Errorf("b is %v", *got)
	}
}

func anUpdateWithoutChangesWakesNoReader(t *testing.T) {
	f := New[int](16, Digests)
	_, r := f.Begin("")
	_, more, _ := r.Next()
	f.Update(Place{}, drop("a"))
	select {
	case <-more:
		t.Error("woken")
	default:
	}
	f.Update(Place{}, set("a", 1))
	<-more
}

func readersThatBeginTogetherShareALargeSnapshot(t *testing.T) {
	f := New[int](64, Digests)
	for i := range sharedFrom {
		f.Update(Place{}, set(fmt.Sprint(i), i))
	}
	first, _ := f.Begin("")
	f.Update(Place{}, set("b", 1))
	second, r := f.Begin("")
	if first != second {
		t.Error("there are two snapshots")
	}
	if r.Current() {
		t.Error("current although an event is missing")
	}
	if got := drain(t, r); !cmp.Equal(got, []string{"added b 1"}) || !r.Current() {
		t.Errorf("the next events are %q, current %v", got, r.Current())
	}
	for i := range 8 {
		f.Update(Place{}, set("c", i))
	}
	if third, r := f.Begin(""); third == first || len(third.Items) != sharedFrom+2 || !r.Current() {
		t.Errorf("after many events still the old snapshot, %d items", len(third.Items))
	}
	runtime.KeepAlive(first)
}

func aTokenResumesWhereItWasIssued(t *testing.T) {
	f := New[int](16, Digests)
	_, r := f.Begin("shop")
	for i := range 10 {
		f.Update(Place{}, set("a", i))
	}
	for range 3 {
		if _, _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	resumed, err := f.Resume("shop", r.Token())
	if err != nil {
		t.Fatal(err)
	}
	if want := drain(t, r); !cmp.Equal(drain(t, resumed), want) || len(want) != 7 {
		t.Errorf("the rest is %q", want)
	}
	if r.Token() != resumed.Token() {
		t.Error("two tokens for the same position")
	}
}

func anEventHasTheItemBeforeIt(t *testing.T) {
	f := New[int](16, Digests)
	_, r := f.Begin("")
	f.Update(Place{}, set("a", 1))
	f.Update(Place{}, set("a", 2))
	f.Update(Place{}, drop("a"))
	for _, want := range []int{0, 1, 2} {
		e, _, err := r.Next()
		if err != nil || (e.Before == nil) != (want == 0) || want != 0 && *e.Before != want {
			t.Errorf("%s after %v, want %d; %v", describe(e), e.Before, want, err)
		}
	}
}

func TestTokens(t *testing.T) {
	f := New[int](16, Digests)
	for i := range 20 {
		f.Update(Place{}, set("a", i))
	}
	good := token{f.epoch, 20, 0}.text("shop")
	damaged := []byte(good)
	damaged[12] ^= 1
	for _, tc := range []struct {
		name, scope, token string
		want               error
	}{
		{"the current position", "shop", good, nil},
		{"the oldest event that is kept", "shop", token{f.epoch, 4, 0}.text("shop"), nil},
		{"an older event", "shop", token{f.epoch, 3, 0}.text("shop"), ErrExpired},
		{"of another process that shares no places", "shop", token{f.epoch + 1, 0, 0}.text("shop"), ErrExpired},
		{"of another scope", "", good, ErrMalformed},
		{"of the future", "shop", token{f.epoch, 21, 0}.text("shop"), ErrMalformed},
		{"damaged", "shop", string(damaged), ErrMalformed},
		{"truncated", "shop", good[:len(good)-1], ErrMalformed},
		{"no token", "shop", "no token", ErrMalformed},
		{"empty", "shop", "", ErrMalformed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := f.Resume(tc.scope, tc.token); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
		})
	}
}

func aReaderThatIsTooFarBehindIsCutOffAndCanResume(t *testing.T) {
	f := New[int](16, Digests)
	_, r := f.Begin("")
	drain(t, r)
	for i := range 9 {
		f.Update(Place{}, set("a", i))
	}
	if _, _, err := r.Next(); !errors.Is(err, ErrTooSlow) {
		t.Fatalf("9 of 16 behind: %v", err)
	}
	resumed, err := f.Resume("", r.Token())
	if err != nil {
		t.Fatal(err)
	}
	if got := drain(t, resumed); len(got) != 9 {
		t.Errorf("resumed with %q", got)
	}
	for i := range 9 {
		f.Update(Place{}, set("a", i))
	}
	if _, _, err := resumed.Next(); !errors.Is(err, ErrTooSlow) {
		t.Errorf("a reader that catches up and falls behind again: %v", err)
	}
	_, late := f.Begin("")
	for i := range 17 {
		f.Update(Place{}, set("a", i))
	}
	if _, _, err := late.Next(); !errors.Is(err, ErrTooSlow) {
		t.Errorf("a reader whose next event was dropped: %v", err)
	}
	if _, err := f.Resume("", late.Token()); !errors.Is(err, ErrExpired) {
		t.Errorf("its token: %v", err)
	}
}

// everyReaderSeesAllEventsInOrder starts readers at random times, resumes them at random
// times, and compares their result with the log.
func everyReaderSeesAllEventsInOrder(t *testing.T) {
	const events = 20_000
	f := New[int](4*events, Digests) // No reader is too slow here.
	read := func(seed uint64) error {
		random := rand.New(rand.NewPCG(seed, 0))
		state, r := f.Begin("")
		items, last := map[string]int{}, -1
		for _, e := range state.Items {
			items[e.Key] = *e.Item
			last = max(last, *e.Item)
		}
		for last < events-1 {
			if random.IntN(100) == 0 {
				var err error
				if r, err = f.Resume("", r.Token()); err != nil {
					return err
				}
			}
			e, more, err := r.Next()
			if err != nil {
				return err
			}
			if more != nil {
				<-more
				continue
			}
			_, known := items[e.Key]
			switch {
			case e.Kind == Deleted && known:
				delete(items, e.Key)
			case e.Kind == Deleted, known != (e.Kind == Modified):
				return fmt.Errorf("%s, known %v", describe(e), known)
			case *e.Item != last+1:
				return fmt.Errorf("%s after %d", describe(e), last)
			default:
				items[e.Key], last = *e.Item, *e.Item
			}
		}
		end := map[string]int{}
		state, _ = f.Begin("")
		for _, e := range state.Items {
			end[e.Key] = *e.Item
		}
		if !maps.Equal(items, end) {
			return fmt.Errorf("ended with %v, not %v", items, end)
		}
		return nil
	}
	var readers sync.WaitGroup
	for seed := range uint64(8) {
		readers.Go(func() {
			if err := read(seed); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range events {
		key := fmt.Sprint(i % 50)
		if i%7 == 0 {
			f.Update(Place{}, drop(key))
		}
		f.Update(Place{}, set(key, i))
	}
	readers.Wait()
}

// BenchmarkUpdate measures the cost of a change, by the number of readers.
func BenchmarkUpdate(b *testing.B) {
	for _, watchers := range []int{0, 1, 1000} {
		b.Run(fmt.Sprintf("watchers=%d", watchers), func(b *testing.B) {
			f := New[int](16384, Digests)
			end := make(chan struct{})
			var reading sync.WaitGroup
			for range watchers {
				_, r := f.Begin("")
				reading.Go(func() {
					for {
						_, more, err := r.Next()
						if err != nil {
							_, r = f.Begin("")
						}
						if more == nil {
							continue
						}
						select {
						case <-more:
						case <-end:
							return
						}
					}
				})
			}
			change := set("a", 1)
			for b.Loop() {
				f.Update(Place{}, change)
			}
			close(end)
			reading.Wait()
		})
	}
}
