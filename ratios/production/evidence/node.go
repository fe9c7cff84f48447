package evidence

// Node is how the replicas on a node differ from those of the same workloads on other nodes of its type.
type Node struct {
	Type, Model int
	Last        int64
	// Halves are the workloads with even and with odd keys: both halves have the deviation of the node in
	// common, and nothing else.
	Halves [2]Deviation
	// Busy is the sum, weighted like that of both halves, of by how much busier it was than the nodes of those replicas.
	Busy float64
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
		by := decay(at - e.last)
		for i := range e.Slowdown {
			x := &e.Slowdown[i]
			x.Squares, x.Products, x.Count = x.Squares*by, x.Products*by, x.Count*by
		}
	}
	e.last = at
}

// note adds the deviations of the replicas of one type, with a weight for replicas that hardly differ by themselves.
func (e *Evidence) note(s *side, replicas []Replica, usage []float64, weight float64, w Key, at int64) {
	var busy float64
	known := s.busyCount == s.count
	if known {
		busy = s.busy / s.count
	}
	for i := range replicas {
		r, d := &replicas[i], usage[i]-s.mean
		if known {
			u := r.Busy - busy
			x := &e.Slowdown[s.kind]
			x.Squares += weight * u * u
			x.Products += weight * u * d
			x.Count += weight * (s.count - 1) / s.count
		}
		n := e.Nodes[r.Node]
		if n == nil {
			if len(e.Nodes) >= mostNodes {
				continue
			}
			n = &Node{Type: s.kind, Model: index(&e.Models, r.CPUModel), Last: at}
			e.Nodes[r.Node] = n
		}
		if n.Type != s.kind {
			*n = Node{Type: s.kind, Model: index(&e.Models, r.CPUModel), Last: at}
		}
		if at > n.Last {
			by := decay(at - n.Last)
			for h := range n.Halves {
				n.Halves[h].Weight *= by
				n.Halves[h].Sum *= by
			}
			n.Busy *= by
			n.Last = at
		}
		h := &n.Halves[w%2]
		h.Weight += weight * (1 - 1/s.count)
		h.Sum += weight * d
		if known {
			n.Busy += weight * (r.Busy - busy)
		}
	}
}
