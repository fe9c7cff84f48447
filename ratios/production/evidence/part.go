package evidence

import (
	"maps"
	"slices"
)

// Part returns a copy of the workloads, nodes, places and slowdowns that has selects, and of the names that these refer to. Slowdowns and places have
// the keys of the names of their types, and of their zone. Parts that were selected by different functions together make the whole.
func (e *Evidence) Part(has func(Key) bool) *Evidence {
	p := *e
	p.Workloads, p.Nodes, p.Slowdown = make(map[Key]*Workload), make(map[Key]*Node), make([]Slowdown, len(e.Slowdown))
	for key, w := range e.Workloads {
		if has(key) {
			p.Workloads[key] = w
		}
	}
	for key, n := range e.Nodes {
		if has(key) {
			p.Nodes[key] = n
		}
	}
	p.Places = slices.DeleteFunc(slices.Clone(e.Places), func(x Place) bool { return !has(e.keyOf(&x)) })
	types := make([]bool, len(e.Types))
	for t, s := range e.Slowdown {
		if s != (Slowdown{}) && has(KeyOf(e.Types[t])) {
			p.Slowdown[t], types[t] = s, true
		}
	}
	own := p.Clone()
	own.halves = nil
	own.renumber(types)
	return own
}

// keyOf returns the key of a place.
func (e *Evidence) keyOf(p *Place) Key { return KeyOf(e.Types[p.A], e.Types[p.B], e.Zones[p.Zone]) }

// Replace replaces what has selects with what a part has of it. The part must not be used after that.
func (e *Evidence) Replace(part *Evidence, has func(Key) bool) {
	e.Places = slices.DeleteFunc(e.Places, func(p Place) bool { return has(e.keyOf(&p)) })
	part.Places = slices.DeleteFunc(part.Places, func(p Place) bool { return !has(part.keyOf(&p)) })
	maps.DeleteFunc(e.Workloads, func(key Key, _ *Workload) bool { return has(key) })
	maps.DeleteFunc(e.Nodes, func(key Key, _ *Node) bool { return has(key) })
	maps.DeleteFunc(part.Workloads, func(key Key, _ *Workload) bool { return !has(key) })
	maps.DeleteFunc(part.Nodes, func(key Key, _ *Node) bool { return !has(key) })
	for t, name := range part.Types {
		if to := e.kind(name); to >= 0 && has(KeyOf(name)) {
			e.Slowdown[to] = part.Slowdown[t]
		}
	}
	for t, name := range e.Types {
		if has(KeyOf(name)) && !slices.Contains(part.Types, name) {
			e.Slowdown[t] = Slowdown{}
		}
	}
	part.rename(e)
	maps.Copy(e.Workloads, part.Workloads)
	maps.Copy(e.Nodes, part.Nodes)
	e.Places = append(e.Places, part.Places[:min(len(part.Places), MostPlaces-len(e.Places))]...)
	e.last, e.halves = max(e.last, part.last), nil
}

// rename changes all numbers to those that their names have elsewhere. A name without a number there is not known, and what needs it is deleted.
func (e *Evidence) rename(to *Evidence) {
	numbers := func(names []string, of *[]string) func(*int) {
		is := make([]int, len(names))
		for i, name := range names {
			is[i] = index(of, name)
		}
		return func(i *int) { *i = is[*i] }
	}
	e.numbers(numbers(e.Types, &to.Types), numbers(e.Models, &to.Models), numbers(e.Zones, &to.Zones))
	for _, w := range e.Workloads {
		w.Cells = slices.DeleteFunc(w.Cells, func(c Cell) bool { return min(c.A, c.B) < 0 })
		for i := range w.Cells {
			if c := &w.Cells[i]; c.A > c.B {
				c.turn()
			}
		}
		unknown := func(c Cost) bool { return c.Type < 0 }
		w.Costs, w.open = slices.DeleteFunc(w.Costs, unknown), slices.DeleteFunc(w.open, unknown)
	}
	maps.DeleteFunc(e.Nodes, func(_ Key, n *Node) bool { return n.Type < 0 })
	e.Places = slices.DeleteFunc(e.Places, func(p Place) bool { return min(p.A, p.B, p.Zone) < 0 })
	for i := range e.Places {
		if p := &e.Places[i]; p.A > p.B {
			p.A, p.B = p.B, p.A
			for h := range p.Halves {
				p.Halves[h].Sum = -p.Halves[h].Sum
			}
		}
	}
}

// turn makes the comparison of A with B one of B with A.
func (c *Cell) turn() {
	c.A, c.B = c.B, c.A
	for _, x := range [3]*Compared{&c.Like, &c.Unlike, &c.Apart} {
		x.Mean, x.Busy = -x.Mean, [2]float64{x.Busy[1], x.Busy[0]}
	}
	c.Sizes, c.Change.Mean, c.Change.Sizes = -c.Sizes, -c.Change.Mean, -c.Change.Sizes
	c.Spread = [2]float64{c.Spread[1], c.Spread[0]}
	c.Replicas = [2]float64{c.Replicas[1], c.Replicas[0]}
	c.Uses.Cores = [2]float64{c.Uses.Cores[1], c.Uses.Cores[0]}
	c.Slope.Mean, c.Slope.open.diff, c.Slope.open.cross = -c.Slope.Mean, -c.Slope.open.diff, -c.Slope.open.cross
}

// NotAfter corrects the times of evidence that a clock dated later than an hour, so that hours after it count.
func (e *Evidence) NotAfter(hour int64) {
	for _, w := range e.Workloads {
		w.Last, w.worked = min(w.Last, hour), min(w.worked, hour)
		for i := range w.Cells {
			w.Cells[i].Seen = min(w.Cells[i].Seen, hour)
		}
		for _, costs := range [2][]Cost{w.Costs, w.open} {
			for i := range costs {
				costs[i].Day = min(costs[i].Day, hour/hoursPerDay)
			}
		}
	}
	for _, n := range e.Nodes {
		n.Last = min(n.Last, hour)
	}
	for i := range e.Places {
		e.Places[i].Last = min(e.Places[i].Last, hour)
	}
	e.last = min(e.last, hour)
}
