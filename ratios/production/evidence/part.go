package evidence

import "maps"

// Part returns a copy of the workloads, the nodes and the slowdowns of the types that has selects, types by the keys of their names. The copy has
// nothing in common with the evidence, and its types are in the same order.
func (e *Evidence) Part(has func(Key) bool) *Evidence {
	p := New()
	types, models := make([]bool, len(e.Types)), make([]bool, len(e.Models))
	for i, name := range e.Types {
		types[i] = has(KeyOf(name)) && i < len(e.Slowdown) && e.Slowdown[i] != Slowdown{}
	}
	for key, w := range e.Workloads {
		if !has(key) {
			continue
		}
		p.Workloads[key] = w
		for i := range w.Cells {
			types[w.Cells[i].A], types[w.Cells[i].B] = true, true
		}
	}
	for key, n := range e.Nodes {
		if !has(key) {
			continue
		}
		p.Nodes[key] = n
		types[n.Type] = true
		if n.Model >= 0 {
			models[n.Model] = true
		}
	}
	kinds := named{e.Types, types, &p.Types}
	cpus := named{e.Models, models, &p.Models}
	kinds.addAll()
	cpus.addAll()
	p.Slowdown = make([]Slowdown, len(p.Types))
	p.adopt(p.Workloads, p.Nodes, kinds, cpus)
	p.adoptSlowdowns(e, kinds, has)
	p.last = e.last
	return p
}

// Replace replaces what has selects with what a part has of it. The part must not be used after that.
func (e *Evidence) Replace(part *Evidence, has func(Key) bool) {
	maps.DeleteFunc(e.Workloads, func(key Key, _ *Workload) bool { return has(key) })
	maps.DeleteFunc(e.Nodes, func(key Key, _ *Node) bool { return has(key) })
	maps.DeleteFunc(part.Workloads, func(key Key, _ *Workload) bool { return !has(key) })
	maps.DeleteFunc(part.Nodes, func(key Key, _ *Node) bool { return !has(key) })
	kinds := named{part.Types, nil, &e.Types}
	kinds.addAll()
	for len(e.Slowdown) < len(e.Types) {
		e.Slowdown = append(e.Slowdown, Slowdown{})
	}
	for i, name := range e.Types {
		if has(KeyOf(name)) {
			e.Slowdown[i] = Slowdown{}
		}
	}
	e.adopt(part.Workloads, part.Nodes, kinds, named{part.Models, nil, &e.Models})
	e.adoptSlowdowns(part, kinds, has)
	e.last = max(e.last, part.last)
}

// named are numbers of names, and the names whose numbers take their place. Those that are not needed get no number; all are if needed is nil.
type named struct {
	from   []string
	needed []bool
	to     *[]string
}

// number returns the new number of a name; −1 if there are too many, or for −1.
func (n named) number(i int) int {
	if i < 0 || n.needed != nil && !n.needed[i] {
		return -1
	}
	return index(n.to, n.from[i])
}

func (n named) addAll() {
	for i := range n.from {
		n.number(i)
	}
}

// adopt adds copies of workloads and nodes whose numbers mean other names.
func (e *Evidence) adopt(workloads map[Key]*Workload, nodes map[Key]*Node, types, models named) {
	for key, w := range workloads {
		own := *w
		own.Cells = make([]Cell, 0, len(w.Cells))
		for i := range w.Cells {
			c := w.Cells[i]
			if c.A, c.B = types.number(c.A), types.number(c.B); c.A < 0 || c.B < 0 {
				continue
			}
			if c.A > c.B {
				c = c.turned()
			}
			own.Cells = append(own.Cells, c)
		}
		e.Workloads[key] = &own
	}
	for key, n := range nodes {
		own := *n
		if own.Type, own.Model = types.number(n.Type), models.number(n.Model); own.Type >= 0 {
			e.Nodes[key] = &own
		}
	}
}

// adoptSlowdowns adopts the slowdowns of the types that has selects.
func (e *Evidence) adoptSlowdowns(from *Evidence, types named, has func(Key) bool) {
	for i, s := range from.Slowdown {
		if to := types.number(i); to >= 0 && has(KeyOf(types.from[i])) {
			e.Slowdown[to] = s
		}
	}
}

// turned returns the cell as a comparison of B with A.
func (c Cell) turned() Cell {
	c.A, c.B = c.B, c.A
	c.Like, c.Unlike, c.Sizes = c.Like.turned(), c.Unlike.turned(), -c.Sizes
	c.Spread = [2]float64{c.Spread[1], c.Spread[0]}
	c.Replicas = [2]float64{c.Replicas[1], c.Replicas[0]}
	c.Slope.Mean, c.Slope.open.diff, c.Slope.open.cross = -c.Slope.Mean, -c.Slope.open.diff, -c.Slope.open.cross
	return c
}

func (c Compared) turned() Compared {
	c.Mean, c.Busy = -c.Mean, [2]float64{c.Busy[1], c.Busy[0]}
	return c
}

// NotAfter corrects the times of evidence that a clock dated later than an hour, so that hours after it count.
func (e *Evidence) NotAfter(hour int64) {
	for _, w := range e.Workloads {
		w.Last = min(w.Last, hour)
		for i := range w.Cells {
			w.Cells[i].seen = min(w.Cells[i].seen, hour)
		}
	}
	for _, n := range e.Nodes {
		n.Last = min(n.Last, hour)
	}
	e.last = min(e.last, hour)
}
