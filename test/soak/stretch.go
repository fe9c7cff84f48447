package main

import (
	"fmt"
	"time"
)

// What is allowed.
const (
	// growthAllowed is by what share of its mean the memory of a process may grow over
	// the second half of a stretch, by the slope; growthNoise, in bytes, is what a heap
	// of a few MiB differs by from one moment to the next.
	growthAllowed = 0.10
	growthNoise   = 3 * mebibyte
	// judgedFrom is how long a stretch must be for its memory to be judged.
	judgedFrom = 3 * time.Minute
)

// stretch is what a process needed while it led, or while it did not.
type stretch struct {
	Process string  `json:"process"`
	Leading bool    `json:"leading"`
	Seconds float64 `json:"seconds"`
	// CPU is in cores, on average.
	CPU float64 `json:"cpu"`
	// Heap and RSS are means over its second half, in bytes; their slopes are in bytes
	// per second.
	Heap      float64 `json:"heap"`
	HeapSlope float64 `json:"heapSlope"`
	RSS       float64 `json:"rss"`
	RSSSlope  float64 `json:"rssSlope"`
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
			all = append(all, stretchOf(l.name, rest[:n]))
		}
		rest = rest[n:]
	}
	return all
}

func stretchOf(process string, samples []sample) stretch {
	first, last, half := samples[0], samples[len(samples)-1], samples[len(samples)/2:]
	took := last.at.Sub(first.at).Seconds()
	return stretch{
		Process: process, Leading: first.leading, Seconds: took, CPU: (last.cpu - first.cpu) / took,
		Heap: mean(half, heapOf), HeapSlope: slope(half, heapOf), RSS: mean(half, rssOf), RSSSlope: slope(half, rssOf),
	}
}

// grows returns what is wrong with its memory.
func (s stretch) grows() []string {
	var wrong []string
	for _, m := range []struct {
		what        string
		mean, slope float64
	}{{"heap", s.Heap, s.HeapSlope}, {"RSS", s.RSS, s.RSSSlope}} {
		if growth := m.slope * s.Seconds / 2; growth > max(growthAllowed*m.mean, growthNoise) {
			wrong = append(wrong, fmt.Sprintf("the %s of %s grew by %.1f MiB over the second half of %v, and is %.1f MiB",
				m.what, s.Process, growth/mebibyte, time.Duration(s.Seconds)*time.Second, m.mean/mebibyte))
		}
	}
	return wrong
}

// slope is how much a figure grows per second, by least squares.
func slope(samples []sample, of func(sample) float64) float64 {
	if len(samples) < 2 {
		return 0
	}
	var x, y, xx, xy float64
	for _, s := range samples {
		at := s.at.Sub(samples[0].at).Seconds()
		x, y, xx, xy = x+at, y+of(s), xx+at*at, xy+at*of(s)
	}
	n := float64(len(samples))
	return (n*xy - x*y) / (n*xx - x*x)
}

// mean is the average of a figure.
func mean(samples []sample, of func(sample) float64) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += of(s)
	}
	return sum / float64(max(len(samples), 1))
}
