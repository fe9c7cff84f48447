package evidence

import (
	"cmp"
	"maps"
	"slices"
)

// forgotten is after how many hours evidence that was not added to ends: after two half-lives.
const forgotten = 2 * HalfLife

// Forget deletes what was not seen for two half-lives before an hour, in hours since 1970: workloads, nodes, pairs of types
// and of zones, and names that nothing refers to. If there is little room left, what was not seen for longest makes room. Types
// whose hardware changed lose most of their past. Call it every hour.
func (e *Evidence) Forget(now int64) {
	for key, w := range e.Workloads {
		w.Cells = slices.DeleteFunc(w.Cells, func(c Cell) bool { return now-c.Seen > forgotten })
		w.Costs = slices.DeleteFunc(w.Costs, func(c Cost) bool { return now/hoursPerDay-c.Day > longestMove })
		if now-w.Last > forgotten || len(w.Cells)+len(w.Costs)+len(w.open) == 0 {
			delete(e.Workloads, key)
		}
	}
	for key, n := range e.Nodes {
		if now-n.Last > forgotten {
			delete(e.Nodes, key)
		}
	}
	trim(e.Workloads, mostWorkloads, now, func(w *Workload) int64 { return w.Last })
	trim(e.Nodes, mostNodes, now, func(n *Node) int64 { return n.Last })
	e.Places = slices.DeleteFunc(e.Places, func(p Place) bool { return now-p.Last > forgotten })
	e.follow(now)
	e.halves = nil
	e.renumber(make([]bool, len(e.Types)))
}

// trim makes room for a fifth of what there may be at most, if there is room for less than half of that: what was not seen for
// longest is deleted, but nothing of the last day. Otherwise, clusters that are too large would forget all workloads in turn.
func trim[V any](all map[Key]*V, most int, now int64, last func(*V) int64) {
	if len(all) <= most-most/10 {
		return
	}
	keys := slices.SortedFunc(maps.Keys(all), func(a, b Key) int {
		return cmp.Or(cmp.Compare(last(all[a]), last(all[b])), cmp.Compare(a, b))
	})
	for _, key := range keys[:len(all)-(most-most/5)] {
		if now-last(all[key]) > hoursPerDay {
			delete(all, key)
		}
	}
}

// renumber removes names that nothing refers to, so that new ones have room, except of some types.
func (e *Evidence) renumber(types []bool) {
	models, zones := make([]bool, len(e.Models)), make([]bool, len(e.Zones))
	e.numbers(func(t *int) { types[*t] = true }, func(m *int) { models[*m] = true }, func(z *int) { zones[*z] = true })
	if !slices.Contains(types, false) && !slices.Contains(models, false) && !slices.Contains(zones, false) {
		return
	}
	slowdown := e.Slowdown[:0]
	for t := range e.Slowdown {
		if types[t] {
			slowdown = append(slowdown, e.Slowdown[t])
		}
	}
	e.Slowdown = slowdown
	var typeOf, modelOf, zoneOf []int
	e.Types, typeOf = kept(e.Types, types)
	e.Models, modelOf = kept(e.Models, models)
	e.Zones, zoneOf = kept(e.Zones, zones)
	e.numbers(func(t *int) { *t = typeOf[*t] }, func(m *int) { *m = modelOf[*m] }, func(z *int) { *z = zoneOf[*z] })
}

// numbers visits all numbers that stand for names. The order of types stays, so that pairs stay in order.
func (e *Evidence) numbers(kind, model, zone func(*int)) {
	for _, w := range e.Workloads {
		for i := range w.Cells {
			kind(&w.Cells[i].A)
			kind(&w.Cells[i].B)
		}
		for _, costs := range [2][]Cost{w.Costs, w.open} {
			for i := range costs {
				kind(&costs[i].Type)
			}
		}
	}
	for _, n := range e.Nodes {
		kind(&n.Type)
		if n.Model >= 0 {
			model(&n.Model)
		}
		if n.Zone >= 0 {
			zone(&n.Zone)
		}
	}
	for i := range e.Places {
		p := &e.Places[i]
		kind(&p.A)
		kind(&p.B)
		zone(&p.Zone)
	}
}
