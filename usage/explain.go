package usage

import (
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Explanation is what a container needs, and how this follows from its history.
type Explanation struct {
	Recommendation recommend.Recommendation
	// Known reports whether there is a recommendation.
	Known bool
	// Measured has what was measured on each node type, in alphabetical order.
	Measured []Measured
	// Steps lead from this to the target.
	Steps []recommend.Step
}

// Measured is what was measured on one node type.
type Measured struct {
	NodeType string
	// Speed is the zero value unless SpeedKnown. Without it, this history does not count.
	Speed      recommend.Speed
	SpeedKnown bool
	// First and Last are the times of the first and the last CPU sample, and Samples their
	// number.
	First, Last time.Time
	Samples     int
	// Throttled is the share of the weight of CPU samples that were throttled.
	Throttled float64
	// Percentile has the percentiles of the target on this node type alone, as measured.
	Percentile recommend.Amounts
}

// Explain returns what a container needs under a set of ratios, and why; false without a history.
func (s *Store) Explain(c history.Container, set Ratios, now time.Time) (Explanation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	view, ok := s.history.View(c, now)
	if !ok {
		return Explanation{}, false
	}
	options := s.options(c)
	o := &options.Recommend
	demand := recommend.NewDemand(view, set.Speeds)
	e := Explanation{Steps: recommend.Steps(demand, options.Containers, o, now)}
	e.Recommendation, e.Known = recommend.For(demand, options.Containers, o, now)
	for i := range view.Types {
		t := &view.Types[i]
		m := Measured{NodeType: t.NodeType, First: t.First, Last: t.Last, Samples: t.Samples, Throttled: t.Throttled, Percentile: o.Percentile(t)}
		m.Speed, m.SpeedKnown = set.Speeds(t.NodeType)
		e.Measured = append(e.Measured, m)
	}
	return e, true
}

// Distribution is what a container used on one node type.
type Distribution struct {
	NodeType string
	// First and Last are the times of the first and the last CPU sample, and Samples their
	// number.
	First, Last time.Time
	Samples     int
	// CPU has cores, and Memory the peaks of memory in bytes.
	CPU, Memory []histogram.Bar
}

// Distributions returns what a container used on each node type, as measured; false without a history.
func (s *Store) Distributions(c history.Container, now time.Time) ([]Distribution, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	view, ok := s.history.View(c, now)
	if !ok {
		return nil, false
	}
	all := make([]Distribution, len(view.Types))
	for i, t := range view.Types {
		all[i] = Distribution{NodeType: t.NodeType, First: t.First, Last: t.Last, Samples: t.Samples, CPU: slices.Collect(t.CPU.Bars()), Memory: slices.Collect(t.Memory.Bars())}
	}
	return all, true
}
