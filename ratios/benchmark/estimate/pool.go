package estimate

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// test identifies scores of different machines that can be compared.
type test struct{ benchmark, version string }

func (t test) compare(other test) int {
	return cmp.Or(strings.Compare(t.benchmark, other.benchmark), strings.Compare(t.version, other.version))
}

// series has the scores of the machines of a pool in one test.
type series struct {
	test
	scores            scores
	median            float64
	samples, machines int
	oldest, newest    time.Time
	// draws are the logarithms of the medians of resamples; see pool.resample.
	draws []float64
}

// pool has the machines that a name stands for: all machines of a node type, or those with one
// CPU model of it. All its series have scores.
type pool struct {
	name      string
	series    []*series
	resampled bool
}

// newPool combines the aggregates of several CPU models, all of which have scores. Outliers
// were dropped per model before, because machines of another model are not outliers.
func newPool(name string, aggregates []*Aggregate) *pool {
	byTest := make(map[test][]*Aggregate)
	for _, a := range aggregates {
		t := test{a.Benchmark, a.Version}
		byTest[t] = append(byTest[t], a)
	}
	p := &pool{name: name}
	for t, parts := range byTest {
		x := &series{test: t}
		for _, a := range parts {
			x.samples += a.Samples
			x.oldest, x.newest = earlier(x.oldest, a.Oldest), later(x.newest, a.Newest)
		}
		if len(parts) == 1 {
			x.scores, x.median, x.machines = parts[0].scores, parts[0].Median, parts[0].Machines
		} else {
			for _, a := range parts {
				x.scores = append(x.scores, a.scores...)
			}
			x.scores = newScores(x.scores)
			perMachine := x.scores.perMachine()
			x.median, x.machines = x.scores.median(perMachine), len(perMachine)
		}
		p.series = append(p.series, x)
	}
	slices.SortFunc(p.series, func(a, b *series) int { return a.compare(b.test) })
	return p
}

// machines returns the machines of some series.
func machines(of []*series) map[string]bool {
	names := make(map[string]bool)
	for _, x := range of {
		for _, s := range x.scores {
			names[s.machine] = true
		}
	}
	return names
}
