package estimate

import (
	"maps"
	"math"
	"slices"

	"github.com/workload-resizer/workload-resizer/internal/student"
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
	// shares is the sum of the squared shares of the nodes in the comparison, and zones the same of those in each zone.
	shares float64
	zones  map[int]float64
	// models is the factor between the CPU models of which enough nodes are known, in the zone where it is the largest, as far as it is certain.
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
		k.zones = make(map[int]float64, len(e.Zones))
		for zone := range e.Zones {
			_, k.zones[zone] = compared(slices.DeleteFunc(slices.Clone(all), func(n *evidence.Node) bool { return n.Zone != zone }))
		}
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

// sharesIn returns the sum of the squared shares of the nodes in a zone; 1 if none is known there.
func (k *kind) sharesIn(zone int) float64 {
	if x := k.zones[zone]; x > 0 {
		return x
	}
	return 1
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

// modelsOf returns the largest factor between two CPU models of a type in a zone, of those with enough
// nodes there, as far as it is certain, and the zone. The deviations of nodes are those from other nodes of their zone, so that they
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

// ofModel are the nodes with one CPU model.
type ofModel struct {
	halves                   [2]evidence.Deviation
	weight, squares, between float64
	count                    int
}

// mean returns the mean deviation of the nodes, and chance the variance of that: they deviate by themselves, and so do their replicas.
func (m *ofModel) mean() float64 {
	return evidence.Deviation{Weight: m.weight, Sum: m.halves[0].Sum + m.halves[1].Sum}.Mean()
}

func (m *ofModel) chance(variance float64) float64 {
	return variance*m.squares/(m.weight*m.weight) + lasting/m.weight
}

// add adds a node.
func (m *ofModel) add(n *evidence.Node) {
	own, before := evidence.Deviation{Weight: n.Weight(), Sum: n.Halves[0].Sum + n.Halves[1].Sum}.Mean(), m.mean()
	for h, d := range n.Halves {
		m.halves[h].Weight += d.Weight
		m.halves[h].Sum += d.Sum
	}
	m.weight += n.Weight()
	m.squares += n.Weight() * n.Weight()
	m.between += n.Weight() * (own - before) * (own - m.mean())
	m.count++
}

// models returns the largest factor between two models in a zone. How much nodes differ is what those of one model do: all of them would differ
// by more.
func models(all []*evidence.Node, zone int, s *Settings) float64 {
	byModel := map[int]*ofModel{}
	for _, n := range all {
		if n.Model < 0 || n.Zone != zone {
			continue
		}
		if byModel[n.Model] == nil {
			byModel[n.Model] = &ofModel{}
		}
		byModel[n.Model].add(n)
	}
	squares, freedom := s.NodesWeight*s.Nodes*s.Nodes, s.NodesWeight
	for _, m := range slices.Sorted(maps.Keys(byModel)) {
		x := byModel[m]
		squares += float64(x.count) * x.between / x.weight
		freedom += float64(x.count - 1)
	}
	variance, deviations := squares/freedom, student.Quantile(s.Confidence, freedom)
	most := 0.0
	for i, a := range byModel {
		for j, b := range byModel {
			if i >= j || min(a.count, b.count) < s.MinNodes || min(a.weight, b.weight) <= 0 {
				continue
			}
			chance := deviations * math.Sqrt(a.chance(variance)+b.chance(variance))
			most = max(most, certain(a.mean()-b.mean(), chance, [2]float64{
				a.halves[0].Mean() - b.halves[0].Mean(), a.halves[1].Mean() - b.halves[1].Mean(),
			}))
		}
	}
	return math.Exp(most)
}
