package evidence

import "math"

// Node is how the replicas on a node differ from those of the same workloads on other nodes of its type in its zone.
type Node struct {
	// Model and Zone are −1 if they are not known.
	Type, Model, Zone int
	Last              int64
	// Halves are the two halves of the workloads: both have the deviation of the node in common, and nothing else.
	Halves [2]Deviation
	// Busy is the sum, weighted like that of both halves, of by how much busier it was than the nodes of those replicas.
	Busy float64
	// Compared is the weight of the hours in which replicas on it were compared with those on another type. Other hours show how
	// nodes differ, but add nothing to the comparison of types.
	Compared float64
}

// Weight returns the weight of both halves.
func (n *Node) Weight() float64 { return n.Halves[0].Weight + n.Halves[1].Weight }

// Deviation is a weighted mean.
type Deviation struct{ Weight, Sum float64 }

// Mean returns the mean; 0 without any weight.
func (d Deviation) Mean() float64 {
	if d.Weight == 0 {
		return 0
	}
	return d.Sum / d.Weight
}

// Slowdown has sums over replicas of the same workload, type and hour: of the squared deviations of how busy their
// nodes were, and of the products with the deviations of their usage, each divided by the variance between
// the replicas. Count is the number of replicas, less one per workload, type and hour, divided likewise.
type Slowdown struct{ Squares, Products, Count float64 }

// age reduces the weight of what is known of all slowdowns, when an hour is the first of that time.
func (e *Evidence) age(at int64) {
	if at <= e.last {
		return
	}
	if e.last > 0 {
		by := Decay(at - e.last)
		for i := range e.Slowdown {
			x := &e.Slowdown[i]
			x.Squares, x.Products, x.Count = x.Squares*by, x.Products*by, x.Count*by
		}
	}
	e.last = at
}

// clamped returns a deviation whose weight is the inverse of its variance, as far as it is one that happens by chance: a few replicas that
// differ by much more must not decide how others are judged.
func clamped(deviation, weight float64) float64 {
	const far = 3
	bound := far / math.Sqrt(weight)
	return max(min(deviation, bound), -bound)
}

// note adds the deviations of the replicas of one type, with a weight for replicas that hardly differ by themselves. Compared
// means that the type was compared with another.
func (e *Evidence) note(s *side, replicas []Replica, usage []float64, weight float64, compared bool, half int, at int64) {
	busy, mean := 0.0, 0.0 // Of the replicas of which it is known how busy their nodes are.
	for i := range replicas {
		if replicas[i].busyKnown() {
			busy += replicas[i].Busy / s.busyCount
			mean += usage[i] / s.busyCount
		}
	}
	for i := range replicas {
		r := &replicas[i]
		if r.busyKnown() && s.busyCount >= minReplicas {
			u := r.Busy - busy
			x := &e.Slowdown[s.kind]
			x.Squares += weight * u * u
			x.Products += weight * u * clamped(usage[i]-mean, weight)
			x.Count += weight * (s.busyCount - 1) / s.busyCount
		}
		n := e.node(r, s.kind, at)
		if n == nil {
			continue
		}
		h := &n.Halves[half]
		h.Weight += weight * (1 - 1/s.count)
		h.Sum += weight * clamped(usage[i]-s.mean, weight)
		if compared {
			n.Compared += weight * (1 - 1/s.count)
		}
		if r.busyKnown() && s.busyCount >= minReplicas {
			n.Busy += weight * (r.Busy - busy)
		}
	}
}

// node returns the node of a replica, with its weights of now; nil if there are too many. A node with another type, zone or
// CPU than before is another node.
func (e *Evidence) node(r *Replica, kind int, at int64) *Node {
	n := e.Nodes[r.Node]
	model, zone := numberOf(&e.Models, r.CPUModel), numberOf(&e.Zones, r.Zone)
	switch {
	case n == nil:
		if len(e.Nodes) >= mostNodes {
			return nil
		}
		n = &Node{Type: kind, Model: model, Zone: zone, Last: at}
		e.Nodes[r.Node] = n
	case n.Type != kind || n.Zone != zone || n.Model != model && model >= 0 && n.Model >= 0:
		*n = Node{Type: kind, Model: model, Zone: zone, Last: at}
	case model >= 0:
		n.Model = model
	}
	if at > n.Last {
		by := Decay(at - n.Last)
		for h := range n.Halves {
			n.Halves[h].Weight *= by
			n.Halves[h].Sum *= by
		}
		n.Busy, n.Compared, n.Last = n.Busy*by, n.Compared*by, at
	}
	return n
}
