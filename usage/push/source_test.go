package push

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/usagetest"
)

var start = time.Date(2026, 11, 24, 1, 2, 0, 0, time.UTC)

// sample returns the usage of a minute.
func sample(minute int, resource history.Resource) usage.Sample {
	s := usage.Sample{Namespace: "shop", Name: "web-1", Container: "app"}
	s.UID, s.Resource, s.At, s.Length, s.Usage = "1", resource, start.Add(time.Duration(minute)*time.Minute), time.Minute, int64(100+minute)
	return s
}

func TestSource(t *testing.T) {
	usagetest.Run(t, func(t *testing.T) usagetest.Case {
		s := New()
		var want []usage.Sample
		for minute := range 3 {
			want = append(want, sample(minute, history.CPU), sample(minute, history.Memory))
		}
		if err := s.Push("a", want); err != nil {
			t.Fatal(err)
		}
		return usagetest.Case{Source: s, Want: want, Once: true}
	})
	t.Run("takes all samples of a push or none", takesAllSamplesOfAPushOrNone)
	t.Run("keeps what is too new", keepsWhatIsTooNew)
	t.Run("what is too new has its sender, too", whatIsTooNewHasItsSenderToo)
	t.Run("loses nothing while it is read", losesNothingWhileItIsRead)
	t.Run("keeps no more memory than it counts", keepsNoMoreMemoryThanItCounts)
}

func read(t *testing.T, s *Source, until time.Time) (all []usage.Sample) {
	t.Helper()
	if err := s.Read(t.Context(), start.Add(-time.Hour), until, func(s usage.Sample) { all = append(all, s) }); err != nil {
		t.Error(err)
	}
	return all
}

func takesAllSamplesOfAPushOrNone(t *testing.T) {
	s := New()
	two := []usage.Sample{sample(0, history.CPU), sample(0, history.Memory)}
	if err := s.Push("a", make([]usage.Sample, MostOfOne-1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Push("a", two); !errors.Is(err, ErrFull) {
		t.Errorf("too many of one sender: %v, want %v", err, ErrFull)
	}
	if err := s.Push("a", two[:1]); err != nil {
		t.Errorf("the last one: %v", err)
	}
	for _, sender := range "bcdefghij" {
		if err := s.Push(string(sender), make([]usage.Sample, MostOfOne)); err != nil {
			t.Errorf("of %c: %v", sender, err)
		}
	}
	if err := s.Push("k", two); !errors.Is(err, ErrFull) {
		t.Errorf("too many of all: %v, want %v", err, ErrFull)
	}
	read(t, s, start)
	if err := s.Push("a", two); err != nil {
		t.Errorf("after a read: %v", err)
	}
	if got := read(t, s, start); len(got) != 2 {
		t.Errorf("%d samples, want 2", len(got))
	}
}

func keepsWhatIsTooNew(t *testing.T) {
	s := New()
	if err := s.Push("a", []usage.Sample{sample(0, history.CPU), sample(1, history.CPU)}); err != nil {
		t.Fatal(err)
	}
	for minute := range 2 {
		if got := read(t, s, start.Add(time.Duration(minute)*time.Minute)); len(got) != 1 || got[0] != sample(minute, history.CPU) {
			t.Errorf("minute %d: %+v", minute, got)
		}
	}
}

func whatIsTooNewHasItsSenderToo(t *testing.T) {
	s := New()
	ahead := make([]usage.Sample, MostOfOne)
	for i := range ahead {
		ahead[i] = sample(1, history.CPU)
	}
	for n := range 12 { // Reads, until the time has come.
		if err := s.Push("a", ahead); (err == nil) != (n == 0) {
			t.Errorf("push %d: %v", n, err)
		}
		read(t, s, start)
	}
	if err := s.Push("b", ahead); err != nil {
		t.Errorf("of another sender: %v", err)
	}
	read(t, s, start.Add(time.Minute))
	if err := s.Push("a", ahead); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func losesNothingWhileItIsRead(t *testing.T) {
	s := New()
	const pushers, each = 4, 500
	var pushing sync.WaitGroup
	for range pushers {
		pushing.Go(func() {
			for range each {
				if err := s.Push("a", []usage.Sample{sample(0, history.CPU)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	pushed := make(chan struct{})
	go func() {
		pushing.Wait()
		close(pushed)
	}()
	n := 0
	for done := false; !done; {
		select {
		case <-pushed:
			done = true // The last read finds the rest.
		default:
		}
		n += len(read(t, s, start))
	}
	if n != pushers*each {
		t.Errorf("%d samples, want %d", n, pushers*each)
	}
}

// A message may have many usages of which few are valid.
func keepsNoMoreMemoryThanItCounts(t *testing.T) {
	s := New()
	if err := s.Push("a", append(make([]usage.Sample, 0, MostOfOne), sample(0, history.CPU))); err != nil {
		t.Fatal(err)
	}
	if kept := cap(s.pushes[0].samples); kept > 2 {
		t.Errorf("room for %d samples is kept for one", kept)
	}
	// Most samples of a push may be read while one is too new.
	ahead := slices.Repeat([]usage.Sample{sample(0, history.CPU)}, 1000)
	ahead[999] = sample(1, history.CPU)
	if err := s.Push("a", ahead); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, start); len(got) != 1000 || cap(s.pushes[0].samples) > 2 {
		t.Errorf("%d samples are read, and room for %d is kept", len(got), cap(s.pushes[0].samples))
	}
}
