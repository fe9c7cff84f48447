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
	// seen is how many nodes are known, and count how many of them were compared with those of another type.
	seen, count int
	// shares is the sum of the squared shares of the nodes in the comparison.
	shares float64
	// models is the factor between the CPU models of which enough nodes are known, in the zone where it is the largest.
	models     float64
	modelsZone string
}

// nodesOf estimates how much nodes differ that are as busy: as much as two halves of the workloads see alike.
func nodesOf(e *evidence.Evidence, slow []slowdown, latest int64, s *Settings) nodes {
	result := nodes{kinds: make([]kind, len(e.Types))}
	byType := make([][]*evidence.Node, len(e.Types))
	for _, key := range sorted(e.Nodes) {
		if n := e.Nodes[key]; n.Weight() > 0 {
			byType[n.Type] = append(byType[n.Type], asBusy(n, slow[n.Type].by, evidence.Decay(latest-n.Last)))
		}
	}
	alike, weights, freedom := 0.0, 0.0, 0.0
	for t, all := range byType {
		k := &result.kinds[t]
		k.seen = len(all)
		k.count, k.shares = compared(all)
		k.models, k.modelsZone = modelsOf(all, e.Zones, s)
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

// compared returns how many nodes were compared with those of another type, and the sum of their squared shares. A node
// that was compared for less than a tenth of the usual time does not count.
func compared(all []*evidence.Node) (count int, shares float64) {
	const hardly = 0.1
	total, squares, nodes := 0.0, 0.0, 0.0
	for _, n := range all {
		if w := n.Compared; w > 0 {
			total += w
			squares += w * w
			nodes++
		}
	}
	for _, n := range all {
		if n.Compared > 0 && n.Compared >= hardly*total/nodes {
			count++
		}
	}
	if total > 0 {
		shares = squares / (total * total)
	}
	return count, shares
}

// asBusy returns what is known of a node, as if it had been as busy as others, with weights that fade.
func asBusy(n *evidence.Node, slowdown, fade float64) *evidence.Node {
	same := *n
	for h := range same.Halves {
		same.Halves[h].Sum -= slowdown * n.Busy * n.Halves[h].Weight / n.Weight()
		same.Halves[h].Sum *= fade
		same.Halves[h].Weight *= fade
	}
	same.Compared *= fade
	return &same
}

// modelsOf returns the largest factor between the slowest and the fastest CPU model of a type in a zone, of those with enough
// nodes there, and the zone. The deviations of nodes are those from other nodes of their zone, so that they
// say nothing about other zones.
func modelsOf(all []*evidence.Node, zones []string, s *Settings) (factor float64, zone string) {
	factor = 1
	for z := -1; z < len(zones); z++ { // −1 are the nodes without one.
		if f := models(all, z, s); f > factor {
			factor, zone = f, ""
			if z >= 0 {
				zone = zones[z]
			}
		}
	}
	return factor, zone
}

func models(all []*evidence.Node, zone int, s *Settings) float64 {
	sums := map[int]evidence.Deviation{}
	counts := map[int]int{}
	for _, n := range all {
		if n.Model < 0 || n.Zone != zone {
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
