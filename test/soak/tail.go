package main

import (
	"context"
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// tailGrowth is how much the memory of a process may grow over the tail, in bytes,
// according to the slope: a heap of a few MiB varies that much from one moment to the
// next. A leak of half a MiB per minute exceeds it within ten minutes.
const tailGrowth = 3 * oracle.Mebibyte

// judgedLeast is how much of the tail must be left after the warm-up.
const judgedLeast = time.Minute

// tail continues the churn and the ratio changes without kills, so that one process
// resizes for long enough to show whether it grows.
func (s *soak) tail(ctx context.Context) error {
	if err := s.pause(ctx); err != nil {
		return err
	}
	say("tail of %v without kills", s.options.tail)
	s.tailBegan = time.Now()
	every := min(changeEvery, s.options.tail/2)
	for at := every; at < s.options.tail; at += every {
		if err := wait(ctx, time.Until(s.tailBegan.Add(at))); err != nil {
			return err
		}
		if err := s.changeRatios(ctx); err != nil {
			return err
		}
	}
	err := wait(ctx, time.Until(s.tailBegan.Add(s.options.tail)))
	s.tailEnded = time.Now()
	return err
}

// judgeTail adds the resource usage of the processes between two times. One process must
// have led all the time.
func (r *report) judgeTail(replicas []*replica, began, ended time.Time) {
	if ended.IsZero() {
		r.Problems = append(r.Problems, "there was no tail to judge memory growth")
		return
	}
	led, warmUp := 0, r.warmUp()
	for _, replica := range replicas {
		l := replica.now()
		last, some := lastRole(l.samples, ended), []sample(nil)
		for _, one := range last {
			// Before the tail, outages kept pods from being deleted.
			if one.at.Sub(began) >= warmUp && one.at.Sub(last[0].at) >= warmUp {
				some = append(some, one)
			}
		}
		if len(last) > 0 && last[0].leading {
			led++
		}
		if len(last) > 0 && last[0].at.After(began.Add(2*samplePeriod)) {
			r.Problems = append(r.Problems, fmt.Sprintf("%s started, or its leadership changed, in the tail, in which no process was killed", l.name))
		}
		if len(some) < 2 || some[len(some)-1].at.Sub(some[0].at) < judgedLeast {
			r.Problems = append(r.Problems, fmt.Sprintf("the tail of %v does not show whether %s grows: it needs %v in the same role, and %v more",
				ended.Sub(began).Round(time.Second), l.name, warmUp.Round(time.Second), judgedLeast))
			continue
		}
		t := stretchOf(l.name, some, some)
		r.Tail = append(r.Tail, t)
		for _, m := range t.memory() {
			if growth := m.slope * t.Seconds; growth > tailGrowth {
				r.Problems = append(r.Problems, fmt.Sprintf("the %s of %s grew by %.2f MiB per minute over %v of the tail, with a mean of %.1f MiB",
					m.what, l.name, m.slope*60/oracle.Mebibyte, seconds(t.Seconds), m.mean/oracle.Mebibyte))
			}
		}
	}
	if led != 1 {
		r.Problems = append(r.Problems, fmt.Sprintf("%d replicas led in the tail, want 1", led))
	}
}

// lastRole returns the samples up to ended in which the process had its last role.
func lastRole(samples []sample, ended time.Time) []sample {
	n := len(samples)
	for n > 0 && samples[n-1].at.After(ended) {
		n--
	}
	begin := n
	for begin > 0 && samples[begin-1].leading == samples[n-1].leading {
		begin--
	}
	return samples[begin:n]
}
