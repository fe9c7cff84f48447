package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// What is allowed.
const (
	// growthAllowed is by what share of its mean the memory of a process may grow over
	// the second half of a stretch, by the slope; growthNoise, in bytes, is what a heap
	// of a few MiB differs by from one moment to the next.
	growthAllowed = 0.10
	growthNoise   = 3 * oracle.Mebibyte
	// warmUpLeast is for how long a process may grow that has started, or begun to
	// lead; warmUpPods is how many pods it may grow by as well, until what it keeps is
	// full: 16,384 changes for those who watch, three or more of a pod, and what
	// client-go keeps of the events of 4,096 pods. A third of the pods are right as
	// they are, and leave none.
	warmUpLeast = 3 * time.Minute
	warmUpPods  = 9_000
)

// stretch is what a process needed while it led, or while it did not.
type stretch struct {
	Process string  `json:"process"`
	Leading bool    `json:"leading"`
	Seconds float64 `json:"seconds"`
	// CPU is in cores, on average.
	CPU float64 `json:"cpu"`
	// Heap and RSS are means over its second half, or over all of the tail, in bytes;
	// their slopes are in bytes per second.
	Heap      float64 `json:"heap"`
	HeapSlope float64 `json:"heapSlope"`
	RSS       float64 `json:"rss"`
	RSSSlope  float64 `json:"rssSlope"`
}

// warmUp is how long that is at the rate at which pods were deleted.
func (r *report) warmUp() time.Duration {
	return max(warmUpLeast, seconds(warmUpPods/max(0.1, r.DeletedPerActiveSecond)))
}

// stretches sums a process up.
func stretches(l *life) []stretch {
	var all []stretch
	for rest := l.samples; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].leading == rest[0].leading {
			n++
		}
		if n > 1 {
			all = append(all, stretchOf(l.name, rest[:n], rest[n/2:n]))
		}
		rest = rest[n:]
	}
	return all
}

// stretchOf sums samples up, and their memory over some of them.
func stretchOf(process string, samples, memory []sample) stretch {
	first, last := samples[0], samples[len(samples)-1]
	took := last.at.Sub(first.at).Seconds()
	return stretch{
		Process: process, Leading: first.leading, Seconds: took, CPU: (last.cpu - first.cpu) / took,
		Heap: mean(memory, heapOf), HeapSlope: slope(memory, heapOf), RSS: mean(memory, rssOf), RSSSlope: slope(memory, rssOf),
	}
}

// memory is a figure of it, by its name.
type memory struct {
	what        string
	mean, slope float64
}

func (s stretch) memory() []memory {
	return []memory{{"heap", s.Heap, s.HeapSlope}, {"RSS", s.RSS, s.RSSSlope}}
}

// grows returns what is wrong with its memory.
func (s stretch) grows() []string {
	var wrong []string
	for _, m := range s.memory() {
		if growth := m.slope * s.Seconds / 2; growth > max(growthAllowed*m.mean, growthNoise) {
			wrong = append(wrong, fmt.Sprintf("the %s of %s grew by %.1f MiB over the second half of %v, and is %.1f MiB",
				m.what, s.Process, growth/oracle.Mebibyte, seconds(s.Seconds), m.mean/oracle.Mebibyte))
		}
	}
	return wrong
}

// slope is how much a figure grows per second: the median of the slopes between any two
// samples (Theil and Sen), which a few that are far off do not move.
func slope(samples []sample, of func(sample) float64) float64 {
	var all []float64
	for i, a := range samples {
		for _, b := range samples[i+1:] {
			all = append(all, (of(b)-of(a))/b.at.Sub(a.at).Seconds())
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// mean is the average of a figure.
func mean(samples []sample, of func(sample) float64) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += of(s)
	}
	return sum / float64(max(len(samples), 1))
}

// seconds is a time as it is shown.
func seconds(s float64) time.Duration { return time.Duration(s) * time.Second }
