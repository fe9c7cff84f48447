package estimate

import (
	"math"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/internal/student"
)

// WorkloadType is how fast a node type is for one workload.
type WorkloadType struct {
	NodeType string
	// Ratio is the ratio to the baseline for this workload: what it shows by itself, drawn toward what others show, the more the less
	// it was measured.
	Ratio Interval
	// Differs means that the interval excludes the ratio for the whole cluster.
	Differs bool
	// Cores is how many cores it uses on the type.
	Cores float64
}

// deviations returns how many standard deviations an interval for a single workload has on each side: as many as if all variances
// had the fewest degrees of freedom. To be exact for each of thousands of workloads would take seconds.
func (m *model) deviations(n *nodes, s *Settings) float64 {
	return student.Quantile(s.Confidence, min(m.freedom, n.freedom))
}

// singles returns how fast the types are on which a workload that counts was compared. The variances of types are those that no number
// of workloads reduces. The few nodes that it runs on deviate, too, and nothing tells their deviations from its own.
func (m *model) singles(w *workload, names []string, types []Type, n *nodes, shared []float64, deviations float64) []WorkloadType {
	o := &m.workloads[w.place]
	few := func(kind int) float64 {
		if at := slices.Index(o.types, kind); at >= 0 {
			return n.variance / max(o.replicas[at], 1)
		}
		return 0
	}
	contrast := make([]float64, m.types)
	own := make([]WorkloadType, 0, len(o.types))
	for _, t := range o.types {
		cluster := slices.IndexFunc(types, func(x Type) bool { return x.NodeType == names[t] })
		if t == m.base || cluster < 0 || types[cluster].Cluster.Ratio == 0 {
			continue
		}
		clear(contrast)
		contrast[t] = 1
		deviation, variance := o.predict(m, t, 1, contrast)
		contrast[m.base] = 0
		x := WorkloadType{NodeType: names[t], Cores: w.cores[t]}
		log, half := m.speed[t]+deviation, deviations*math.Sqrt(m.quadratic(contrast)+variance+shared[t]+few(t)+few(m.base))
		x.Ratio = Interval{math.Exp(log), math.Exp(log - half), math.Exp(log + half)}
		if !x.Ratio.finite() {
			continue
		}
		x.Differs = !x.Ratio.contains(types[cluster].Cluster.Ratio)
		own = append(own, x)
	}
	slices.SortFunc(own, func(a, b WorkloadType) int { return strings.Compare(a.NodeType, b.NodeType) })
	return own
}

func (i Interval) contains(ratio float64) bool { return i.Low <= ratio && ratio <= i.High }
