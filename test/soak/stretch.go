package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// Limits on resource usage.
const (
	// growthAllowed is the share of its mean by which the memory of a process may grow
	// over the second half of a stretch, according to the slope. growthNoise, in bytes,
	// is how much a heap of a few MiB varies from one moment to the next.
	growthAllowed = 0.10
	growthNoise   = 3 * oracle.Mebibyte
	// warmUpLeast is the minimum time for which a process may grow once pods are deleted
	// at a steady rate: deleted pods are remembered for 15 minutes, since measurements of
	// them can still arrive. warmUpPods is the number of pods during which it may grow
	// until everything else that it keeps is full: 16,384 changes for watches, three or
	// more per pod, and what client-go keeps about the events of 4,096 pods. A third of
	// the pods are correct as written and cause none.
	warmUpLeast = 16 * time.Minute
	warmUpPods  = 9_000
)

// stretch is the resource usage of a process while it led, or while it followed.
type stretch struct {
	Process string  `json:"process"`
	Leading bool    `json:"leading"`
	Seconds float64 `json:"seconds"`
	// CPU is the average, in cores.
	CPU float64 `json:"cpu"`
	// Heap and RSS are means over the second half of the stretch, or over all of the
	// tail, in bytes. Their slopes are in bytes per second.
	Heap      float64 `json:"heap"`
	HeapSlope float64 `json:"heapSlope"`
	RSS       float64 `json:"rss"`
	RSSSlope  float64 `json:"rssSlope"`
}

// warmUp returns the warm-up time at the actual rate of deletions.
func (r *report) warmUp() time.Duration {
	return max(warmUpLeast, seconds(warmUpPods/max(0.1, r.DeletedPerActiveSecond)))
}

// stretches splits the samples of a process where its role changes, and summarizes each part.
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

// stretchOf summarizes samples. It takes the memory figures from the samples in memory.
func stretchOf(process string, samples, memory []sample) stretch {
	first, last := samples[0], samples[len(samples)-1]
	took := last.at.Sub(first.at).Seconds()
	return stretch{
		Process: process, Leading: first.leading, Seconds: took, CPU: (last.cpu - first.cpu) / took,
		Heap: mean(memory, heapOf), HeapSlope: slope(memory, heapOf), RSS: mean(memory, rssOf), RSSSlope: slope(memory, rssOf),
	}
}

// memory is one memory figure with its name.
type memory struct {
	what        string
	mean, slope float64
}

func (s stretch) memory() []memory {
	return []memory{{"heap", s.Heap, s.HeapSlope}, {"RSS", s.RSS, s.RSSSlope}}
}

// grows returns the problems with the memory of the stretch.
func (s stretch) grows() []string {
	var wrong []string
	for _, m := range s.memory() {
		if growth := m.slope * s.Seconds / 2; growth > max(growthAllowed*m.mean, growthNoise) {
			wrong = append(wrong, fmt.Sprintf("the %s of %s grew by %.1f MiB over the second half of %v, with a mean of %.1f MiB",
				m.what, s.Process, growth/oracle.Mebibyte, seconds(s.Seconds), m.mean/oracle.Mebibyte))
		}
	}
	return wrong
}

// slope returns how much a figure grows per second: the median of the slopes between any
// two samples (Theil and Sen), which a few outliers do not change.
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

// mean returns the average of a figure.
func mean(samples []sample, of func(sample) float64) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += of(s)
	}
	return sum / float64(max(len(samples), 1))
}

// seconds returns whole seconds as a duration, for output.
func seconds(s float64) time.Duration { return time.Duration(s) * time.Second }
