package evidence

import "math"

const (
	// recently is for how many hours a node counts as one of those that a type has now.
	recently = 2 * hoursPerDay
	// otherwise is by which part the CPU models of nodes differ that are other hardware, and enoughNodes how many of each show it.
	otherwise, enoughNodes = 0.7, 3
	// remains is the weight in hours that remains of the past of a type with other hardware: less than counts.
	remains = 12
)

// follow finds types whose nodes have other CPU models than those that are gone: a cloud replaced the hardware
// behind the name. Comparisons on the old hardware hardly count then.
func (e *Evidence) follow(now int64) {
	type mix struct {
		nodes  float64
		models map[int]float64
	}
	mixes := make([][2]mix, len(e.Types)) // Nodes that are gone, and those of now.
	for _, n := range e.Nodes {
		if n.Model < 0 || n.Compared == 0 {
			continue
		}
		at := 0
		if now-n.Last <= recently {
			at = 1
		}
		m := &mixes[n.Type][at]
		if m.models == nil {
			m.models = make(map[int]float64)
		}
		m.nodes++
		m.models[n.Model]++
	}
	for t := range mixes {
		gone, here := &mixes[t][0], &mixes[t][1]
		if gone.nodes < enoughNodes || here.nodes < enoughNodes {
			continue
		}
		same := 0.0
		for model, count := range here.models {
			same += math.Min(count/here.nodes, gone.models[model]/gone.nodes)
		}
		if 1-same > otherwise {
			e.replaced(t, now)
		}
	}
}

// replaced lets the past of a type count less.
func (e *Evidence) replaced(t int, now int64) {
	for _, w := range e.Workloads {
		for i := range w.Cells {
			if c := &w.Cells[i]; c.A == t || c.B == t {
				if most := c.weight(); most > remains {
					c.scale(remains / most)
				}
			}
		}
	}
	for key, n := range e.Nodes {
		if n.Type == t && now-n.Last > recently {
			delete(e.Nodes, key)
		}
	}
	for i := range e.Places {
		if p := &e.Places[i]; p.A == t || p.B == t {
			p.Halves = [2]Deviation{}
		}
	}
}
