package measure

import (
	"math"
	"slices"
)

const (
	// leastRuns is the minimum number of repetitions for a score, and the minimum
	// number of fast repetitions that the score is based on.
	leastRuns = 3
	// quarter is the divisor for the share of the fastest repetitions that a score is based on.
	quarter = 4
	// slow is how far below the score a repetition counts as disturbed.
	slow = 0.10
)

// figure is the result of repetitions.
type figure struct {
	// score is the throughput, and deviation is how far the repetitions deviate from it.
	score, deviation float64
	// runs is how many repetitions the score is based on. repetitions is the number of all
	// rates, and disturbed is how many of them were slower than the score by more than 10%.
	runs, repetitions, disturbed int
}

// plateau returns the result of rates that would be equal without disturbances. The score is
// the median of their fastest quarter, which has at least three rates, and the deviation is
// the scaled median absolute deviation of that quarter. With fewer than three rates there is
// no score.
//
// Disturbances can only slow a thread down. On virtual machines, a neighbor on the other
// thread of the core does so for seconds at a time, and no counter shows it. Most rates are
// then on one of two levels, and their median may be on either. The upper level is the speed
// of the machine. Using a quarter, it is enough to be undisturbed for a quarter of the time.
// Using the median of the quarter, a single rate that is too high has no effect.
func plateau(rates []float64) figure {
	if len(rates) < leastRuns {
		return figure{}
	}
	sorted := slices.Sorted(slices.Values(rates))
	top := sorted[len(sorted)-max(len(sorted)/quarter, leastRuns):]
	f := figure{score: median(top), runs: len(top), repetitions: len(rates)}
	deviations := make([]float64, len(top))
	for i, r := range top {
		deviations[i] = math.Abs(r - f.score)
	}
	slices.Sort(deviations)
	f.deviation = 1.4826 * median(deviations)
	for _, r := range rates {
		if r < (1-slow)*f.score {
			f.disturbed++
		}
	}
	return f
}

// median returns the median of sorted numbers.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// series has the rates of each thread, one per repetition.
type series [][]float64

// add adds a repetition, which is one rate per thread.
func (s *series) add(rates []float64) {
	if *s == nil {
		*s = make(series, len(rates))
	}
	for thread, rate := range rates {
		(*s)[thread] = append((*s)[thread], rate)
	}
}

// length returns the number of repetitions.
func (s series) length() int {
	if len(s) == 0 {
		return 0
	}
	return len(s[0])
}

// each returns the sum of the threads' results. Threads of a kind are equally fast if nothing
// disturbs them, so they have a common plateau. It is then harmless if a neighbor disturbs one
// of them all the time.
func (s series) each(kinds [][]int) figure {
	if s.length() < leastRuns {
		return figure{}
	}
	sum := figure{runs: max(s.length()/quarter, leastRuns)}
	for _, threads := range kinds {
		var rates []float64
		for _, thread := range threads {
			rates = append(rates, s[thread]...)
		}
		f := plateau(rates)
		sum.score += f.score * float64(len(threads))
		sum.deviation += f.deviation * float64(len(threads))
		sum.repetitions += f.repetitions
		sum.disturbed += f.disturbed
	}
	return sum
}

// together returns the plateau of the threads' total rate. It is for resources that threads
// share, such as memory: one thread gets what another does not.
func (s series) together() figure {
	sums := make([]float64, s.length())
	for _, rates := range s {
		for i, rate := range rates {
			sums[i] += rate
		}
	}
	return plateau(sums)
}

// spread returns the deviation as a share of the score.
func (f figure) spread() float64 {
	if f.score == 0 {
		return 0
	}
	return f.deviation / f.score
}
