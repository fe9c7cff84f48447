package usagetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Case is a source with known content.
type Case struct {
	Source usage.Source
	// Want is what the source has measured: at least two samples of one container and resource
	// with different times. For a source that knows only the newest measurement, it is that.
	Want []usage.Sample
	// OnlyNewest means that the source knows only the newest measurement.
	OnlyNewest bool
	// Once means that the source passes each sample only once, even one that is not newer.
	Once bool
	// Break makes the next reads fail; nil if the source cannot fail.
	Break func()
}

// Run checks that a source passes the contract. Each subtest gets a new case.
func Run(t *testing.T, setup func(t *testing.T) Case) {
	t.Run("delivers each sample once, as measured", func(t *testing.T) {
		c := setup(t)
		first, last := span(c.Want)
		got := c.read(t, first.Add(-time.Second), last)
		sorted := func(all []usage.Sample) []usage.Sample {
			all = slices.Clone(all)
			slices.SortFunc(all, compare)
			return all
		}
		if !slices.EqualFunc(sorted(got), sorted(c.Want), equal) {
			t.Errorf("delivered %+v\nwant %+v", sorted(got), sorted(c.Want))
		}
	})
	t.Run("delivers the samples of a container in order", func(t *testing.T) {
		c := setup(t)
		first, last := span(c.Want)
		type key struct {
			namespace, name, uid, container string
			resource                        history.Resource
		}
		latest := map[key]time.Time{}
		for _, s := range c.read(t, first.Add(-time.Second), last) {
			k := key{s.Namespace, s.Name, s.UID, s.Container, s.Resource}
			if !s.At.After(latest[k]) {
				t.Errorf("%v after %v", s.At, latest[k])
			}
			latest[k] = s.At
		}
	})
	t.Run("delivers nothing that is not newer, or that is too new", func(t *testing.T) {
		c := setup(t)
		first, last := span(c.Want)
		for _, s := range c.read(t, first, last) {
			if !s.At.After(first) && !c.Once {
				t.Errorf("%v is not after %v", s.At, first)
			}
		}
		if got := c.read(t, last, last.Add(time.Nanosecond)); len(got) != 0 {
			t.Errorf("after the last sample: %+v", got)
		}
		if got := c.read(t, first.Add(-time.Hour), first.Add(-time.Second)); len(got) != 0 {
			t.Errorf("before the first sample: %+v", got)
		}
		if c.OnlyNewest {
			return
		}
		if c.Once {
			c = setup(t)
		}
		middle := first.Add(last.Sub(first) / 2)
		both := len(c.read(t, first.Add(-time.Second), middle)) + len(c.read(t, middle, last))
		if both != len(c.Want) {
			t.Errorf("two reads deliver %d samples of %d", both, len(c.Want))
		}
	})
	t.Run("delivers the same again, or nothing", func(t *testing.T) {
		c := setup(t)
		first, last := span(c.Want)
		for _, want := range []int{len(c.Want), c.again()} {
			if got := c.read(t, first.Add(-time.Second), last); len(got) != want {
				t.Errorf("%d samples, want %d", len(got), want)
			}
		}
	})
	t.Run("ends with its context", func(t *testing.T) {
		c := setup(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		first, last := span(c.Want)
		if err := c.Source.Read(ctx, first, last, func(usage.Sample) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v", err, context.Canceled)
		}
	})
	t.Run("reports a failure, and invents nothing", func(t *testing.T) {
		c := setup(t)
		if c.Break == nil {
			return
		}
		c.Break()
		first, last := span(c.Want)
		err := c.Source.Read(t.Context(), first.Add(-time.Second), last, func(s usage.Sample) {
			if !slices.ContainsFunc(c.Want, func(want usage.Sample) bool { return equal(s, want) }) {
				t.Errorf("invented %+v", s)
			}
		})
		if err == nil {
			t.Error("no error")
		}
	})
	t.Run("has a name", func(t *testing.T) {
		if setup(t).Source.Name() == "" {
			t.Error("no name")
		}
	})
}

// again returns how many samples the source delivers when it is read again.
func (c Case) again() int {
	if c.Once {
		return 0
	}
	return len(c.Want)
}

// read returns what the source delivers.
func (c Case) read(t *testing.T, since, until time.Time) (all []usage.Sample) {
	t.Helper()
	if err := c.Source.Read(t.Context(), since, until, func(s usage.Sample) { all = append(all, s) }); err != nil {
		t.Fatal(err)
	}
	return all
}

// span returns the times of the first and the last sample.
func span(all []usage.Sample) (first, last time.Time) {
	for _, s := range all {
		if first.IsZero() || s.At.Before(first) {
			first = s.At
		}
		if s.At.After(last) {
			last = s.At
		}
	}
	return first, last
}

// equal reports whether two samples are the same measurement.
func equal(a, b usage.Sample) bool {
	// Cores is the result of arithmetic in sources.
	same := a.At.Equal(b.At) && math.Abs(a.Cores-b.Cores) < 1e-9
	a.At, b.At, a.Cores, b.Cores = time.Time{}, time.Time{}, 0, 0
	return same && a == b
}

// compare orders samples.
func compare(a, b usage.Sample) int {
	if c := a.At.Compare(b.At); c != 0 {
		return c
	}
	key := func(s usage.Sample) []string {
		return []string{s.Namespace, s.Name, s.UID, s.Container, string('0' + rune(s.Resource))}
	}
	return slices.Compare(key(a), key(b))
}
