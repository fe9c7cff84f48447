package usage

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/cgroup"
)

// limited is a node with one container, whose readings are set.
type limited struct{ cgroup.Reading }

func (l *limited) Containers() ([]cgroup.Container, error) {
	return []cgroup.Container{{PodUID: "pod", ID: "a", Dir: "/a"}}, nil
}

func (l *limited) Read(cgroup.Container) (cgroup.Reading, error) { return l.Reading, nil }

// uses returns a reading of a container with a limit of 100 MiB.
func uses(mebibytes, limited int64) cgroup.Reading {
	r := memory(mebibytes, 0, mebibytes, 0)
	r.Limit, r.Limited, r.MemoryWait = known(100*mib), known(limited), known(0)
	return r
}

func TestUrgent(t *testing.T) {
	for _, tc := range []struct {
		name   string
		before cgroup.Reading
		now    cgroup.Reading
		want   int64 // The memory of the usage, in MiB; 0 means none.
	}{
		{"far from the limit", uses(50, 0), uses(60, 0), 0},
		{"near the limit", uses(50, 0), uses(90, 0), 90},
		{"near the limit with a peak between two readings", uses(50, 0), func() cgroup.Reading {
			r := memory(50, 0, 95, 60)
			r.Limit = known(100 * mib)
			return r
		}(), 95},
		{"at the limit because of its needs", uses(50, 0), uses(80, 1), 80},
		{"at the limit because of its page cache", uses(50, 0), uses(79, 1), 0},
		{"at the limit before", uses(50, 1), uses(80, 1), 0},
		{"without a limit", uses(50, 0), unknown(uses(90, 0), func(r *cgroup.Reading) { r.Limit = cgroup.Count{} }), 0},
		{"with memory that is not known", uses(50, 0), unknown(uses(90, 0), func(r *cgroup.Reading) { r.Inactive = cgroup.Count{} }), 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &limited{tc.before}
				s := NewSampler(n)
				sampled(t, s, 2)
				n.Reading = tc.now
				sampled(t, s, 1)
				got := s.Urgent()
				if len(got) == 0 && tc.want == 0 {
					return
				}
				if len(got) != 1 || inMiB(got[0].Memory) != tc.want || got[0].Duration != 5*time.Second || !got[0].End.Equal(time.Now()) || got[0].CPU != nil || got[0].Charged == nil || *got[0].Charged != tc.now.Memory.N || got[0].PodUID != "pod" || got[0].ContainerID != "a" {
					t.Errorf("got %+v, want %d MiB", got, tc.want)
				}
				if len(s.Urgent()) != 0 {
					t.Error("it is reported twice")
				}
				if u := usages(s)["a"]; inMiB(u.Memory) < tc.want {
					t.Errorf("the usage of the period has %+v", u)
				}
			})
		})
	}
	t.Run("a container that is always near its limit is reported rarely", func(t *testing.T) { synctest.Test(t, isReportedRarely) })
	t.Run("a container that comes closer to its limit is reported until it reaches the limit", func(t *testing.T) { synctest.Test(t, isReportedWhileItGrows) })
	t.Run("the reporter does not wait for the end of the period", func(t *testing.T) { synctest.Test(t, doesNotWait) })
}

// urgents returns how many usages are urgent in a minute.
func urgents(t *testing.T, s *Sampler) (n int) {
	t.Helper()
	for range 12 {
		sampled(t, s, 1)
		n += len(s.Urgent())
	}
	s.Fold()
	return n
}

func isReportedRarely(t *testing.T) {
	n := &limited{uses(50, 0)}
	s := NewSampler(n)
	sampled(t, s, 1)
	step := func(r cgroup.Reading, want int) {
		t.Helper()
		n.Reading = r
		if got := urgents(t, s); got != want {
			t.Errorf("%d usages, want %d", got, want)
		}
	}
	step(uses(95, 0), mostUrgent)
	step(uses(95, 0), 0)
	step(uses(96, 0), 1)
	step(uses(96, 0), 0)
	lower := uses(96, 0)
	lower.Limit = known(98 * mib)
	step(lower, mostUrgent)
	step(lower, 0)
	step(uses(50, 0), 0)
	step(uses(95, 0), mostUrgent)
}

// A server may be told to revert a resize at 95% of the limit, or at any other share: the first usages near the
// limit must not be the only ones.
func isReportedWhileItGrows(t *testing.T) {
	n := &limited{uses(50, 0)}
	s := NewSampler(n)
	sampled(t, s, 1)
	var reported []int64
	for used := int64(85); used < 100; used++ { // As a leak of 1 MiB every 5 seconds.
		n.Reading = uses(used, 0)
		sampled(t, s, 1)
		for _, u := range s.Urgent() {
			reported = append(reported, inMiB(u.Memory))
		}
	}
	for _, share := range []int64{90, 93, 95, 96, 97, 98} {
		if !slices.ContainsFunc(reported, func(used int64) bool { return used > share && used <= share+2 }) {
			t.Errorf("nothing is reported soon after %d%%, but only %v", share, reported)
		}
	}
	// A container that stays near the limit is not reported again.
	if got := urgents(t, s) + urgents(t, s); got != 0 {
		t.Errorf("%d usages of a container that stays", got)
	}
}

// filling is a node whose container comes near its limit at a time.
type filling struct {
	limited
	at time.Time
}

func (f *filling) Read(cgroup.Container) (cgroup.Reading, error) {
	if time.Now().Before(f.at) {
		return uses(50, 0), nil
	}
	return uses(95, 0), nil
}

func doesNotWait(t *testing.T) {
	var at []time.Duration
	began := time.Now()
	r := &Reporter{Sampler: NewSampler(&filling{at: began.Add(7 * time.Second)}), Interval: 5 * time.Second, Log: slog.New(slog.DiscardHandler), Report: func(u []Usage) {
		if u[0].CPU == nil {
			at = append(at, time.Since(began))
		}
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 21*time.Second)
	defer cancel()
	r.Run(ctx)
	if len(at) != 3 || at[0] != 10*time.Second || at[2] != 20*time.Second {
		t.Errorf("reported after %v", at)
	}
}
