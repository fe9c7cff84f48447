package estimate

import (
	"math"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// nodes is what is known of the nodes of all types.
type nodes struct {
	// variance is the variance of a node's deviation from its type, and freedom its degrees of freedom.
	variance, freedom float64
	kinds             []kind
}

// kind has the nodes of a type.
type kind struct {
	count int
	// shares is the sum of the squared shares of the nodes in the evidence.
	shares float64
	// models is the factor between the CPU models of which enough nodes are known.
	models float64
}

// nodesOf estimates how much nodes differ that are as busy: as much as two halves of the workloads see alike.
func nodesOf(e *evidence.Evidence, slow []slowdown, s *Settings) nodes {
	result := nodes{kinds: make([]kind, len(e.Types))}
	byType := make([][]*evidence.Node, len(e.Types))
	for _, key := range sorted(e.Nodes) {
		if n := e.Nodes[key]; n.Weight() > 0 {
			byType[n.Type] = append(byType[n.Type], asBusy(n, slow[n.Type].by))
		}
	}
	alike, weights, freedom := 0.0, 0.0, 0.0
	for t, all := range byType {
		k := &result.kinds[t]
		k.count = len(all)
		total, squares := 0.0, 0.0
		for _, n := range all {
			w := n.Weight()
			total += w
			squares += w * w
		}
		if total > 0 {
			k.shares = squares / (total * total)
		}
		k.models = models(all, s)
		if len(all) < 2 {
			continue
		}
		own, sum := 0.0, 0.0
		for _, n := range all {
			a, b := n.Halves[0], n.Halves[1]
			w := min(a.Weight, b.Weight)
			own += w
			sum += w * a.Mean() * b.Mean()
		}
		if own > 0 {
			alike += sum * float64(len(all)) / float64(len(all)-1)
			weights += own
			freedom += float64(len(all)-1) / 2 // Half of it is noise of the halves.
		}
	}
	observed := 0.0
	if weights > 0 {
		observed = alike / weights
	}
	result.freedom = freedom + s.NodesWeight
	result.variance = max((freedom*observed+s.NodesWeight*s.Nodes*s.Nodes)/result.freedom, 0.01*0.01)
	return result
}

// asBusy returns what is known of a node, as if it had been as busy as others.
func asBusy(n *evidence.Node, slowdown float64) *evidence.Node {
	same := *n
	for h := range same.Halves {
		same.Halves[h].Sum -= slowdown * n.Busy * n.Halves[h].Weight / n.Weight()
	}
	return &same
}

// models returns the factor between the slowest and the fastest CPU model of a type, of those with enough nodes.
func models(all []*evidence.Node, s *Settings) float64 {
	sums := map[int]evidence.Deviation{}
	counts := map[int]int{}
	for _, n := range all {
		if n.Model < 0 {
			continue
		}
		d := sums[n.Model]
		for _, h := range n.Halves {
			d.Weight += h.Weight
			d.Sum += h.Sum
		}
		sums[n.Model] = d
		counts[n.Model]++
	}
	low, high := math.Inf(1), math.Inf(-1)
	for model, d := range sums {
		if counts[model] >= s.MinNodes {
			low, high = min(low, d.Mean()), max(high, d.Mean())
		}
	}
	if high < low {
		return 1
	}
	return math.Exp(high - low)
}
