package evidence

import (
	"cmp"
	"math"
	"slices"
)

// Add adds an hour. Hours of a workload come in the order of time; others are ignored.
func (e *Evidence) Add(h Hour) {
	w := e.Workloads[h.Workload]
	if w == nil {
		if len(h.Replicas) < 2*minReplicas || len(e.Workloads) >= mostWorkloads {
			return
		}
		w = &Workload{Last: h.At - 1, Cores: cores(h.Replicas)}
	}
	if h.At <= w.Last {
		return
	}
	e.age(h.At)
	gone := h.At - w.Last
	w.Last = h.At
	w.Pulls = h.Pulls
	w.Cores += (cores(h.Replicas) - w.Cores) * (1 - decay(gone)*(1-1.0/hoursPerDay))
	w.Throttled *= decay(gone)
	if h.throttled() {
		w.Throttled++
	}
	for i := range w.Cells {
		c := &w.Cells[i]
		c.scale(decay(gone))
		if c.seen == 0 { // It was read.
			c.seen = h.At
		}
	}
	replicas, known := h.usable()
	if len(replicas) > 0 && !w.accept(known, h.At) {
		replicas = nil
	}
	var found differences
	slices.SortFunc(replicas, func(a, b Replica) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.NodeType, b.NodeType), cmp.Compare(a.Node, b.Node), cmp.Compare(a.CPU, b.CPU))
	})
	for i, j := 0, 0; i < len(replicas); i = j {
		for j = i; j < len(replicas) && replicas[j].Zone == replicas[i].Zone; j++ {
			continue
		}
		e.compare(&found, w, h.Workload, replicas[i:j], known, h.At)
	}
	if len(found) > 0 {
		load := loadOf(replicas)
		upper := w.Load.upper(load)
		for i := range found {
			if c := w.cell(found[i].kinds, h.At); c != nil {
				c.add(&found[i], load, upper, h.At)
			}
		}
	}
	if len(found) > 0 || e.Workloads[h.Workload] != nil {
		e.Workloads[h.Workload] = w
	}
}

// cores returns how much all replicas use together.
func cores(replicas []Replica) float64 {
	sum := 0.0
	for i := range replicas {
		if c := replicas[i].CPU; c > 0 && !math.IsInf(c, 0) {
			sum += c
		}
	}
	return sum
}

// leastSpread is added to the variance between replicas, which few of them may have by chance.
const leastSpread = 0.02

// compare compares the types of a zone in an hour. Replicas are sorted by type.
func (e *Evidence) compare(found *differences, w *Workload, key Key, replicas []Replica, known bool, at int64) {
	usage := make([]float64, len(replicas))
	var sides []side
	squares, free := 0.0, 0.0
	for i, j := 0, 0; i < len(replicas); i = j {
		for j = i; j < len(replicas) && replicas[j].NodeType == replicas[i].NodeType; j++ {
			usage[j] = math.Log(replicas[j].CPU)
			if known {
				usage[j] -= math.Log(replicas[j].Work)
			}
		}
		kind := index(&e.Types, replicas[i].NodeType)
		for len(e.Slowdown) < len(e.Types) {
			e.Slowdown = append(e.Slowdown, Slowdown{})
		}
		if j-i < minReplicas || kind < 0 {
			continue
		}
		s := sideOf(kind, replicas[i:j], usage[i:j])
		s.first = i
		squares += s.squares
		free += s.count - 1
		sides = append(sides, s)
	}
	// That of this hour would make large deviations count less, and so slowdowns seem smaller.
	spread := w.spread()
	if spread == 0 {
		spread = squares / max(free, 1)
	}
	for i := range sides {
		s := &sides[i]
		e.note(s, replicas[s.first:s.first+int(s.count)], s.of(usage), 1/(leastSpread+spread), key, at)
	}
	if len(sides) < 2 {
		return
	}
	center(sides, usage)
	// All types are compared with one, which has what all differences between them say: the one that was compared
	// most often, so that few pairs are kept.
	anchor := w.anchor(sides)
	for i := range sides {
		if i != anchor {
			a, b := &sides[anchor], &sides[i]
			if a.kind > b.kind {
				a, b = b, a
			}
			found.add(a, b)
		}
	}
}

// sideOf summarizes the replicas of one type.
func sideOf(kind int, replicas []Replica, usage []float64) side {
	s := side{kind: kind, count: float64(len(replicas))}
	for i := range replicas {
		s.mean += usage[i] / s.count
		s.request += replicas[i].Request / s.count
		if !math.IsNaN(replicas[i].Busy) {
			s.busy += replicas[i].Busy
			s.busyCount++
		}
	}
	for _, u := range usage {
		s.squares += (u - s.mean) * (u - s.mean)
	}
	return s
}

// spread returns the variance between replicas in past hours; 0 if it is not known.
func (w *Workload) spread() float64 {
	sum, weight := 0.0, 0.0
	for i := range w.Cells {
		c := &w.Cells[i]
		sum += (c.Spread[0] + c.Spread[1]) / 2 * c.Hours()
		weight += c.Hours()
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

// anchor returns the type that the others are compared with.
func (w *Workload) anchor(sides []side) int {
	best, most := 0, -1.0
	for i := range sides {
		hours := sides[i].count / 1e3
		for j := range w.Cells {
			if c := &w.Cells[j]; c.A == sides[i].kind || c.B == sides[i].kind {
				hours += c.Hours()
			}
		}
		if hours > most {
			best, most = i, hours
		}
	}
	return best
}

// cell returns the cell of a pair. If there are too many, one that was not seen for a day goes, or there is none.
func (w *Workload) cell(kinds [2]int, at int64) *Cell {
	least := -1
	for i := range w.Cells {
		c := &w.Cells[i]
		if c.A == kinds[0] && c.B == kinds[1] {
			return c
		}
		if at-c.seen > hoursPerDay && (least < 0 || c.Hours() < w.Cells[least].Hours()) {
			least = i
		}
	}
	if len(w.Cells) >= MostCells {
		if least < 0 {
			return nil
		}
		w.Cells = slices.Delete(w.Cells, least, least+1)
	}
	w.Cells = append(w.Cells, Cell{A: kinds[0], B: kinds[1]})
	return &w.Cells[len(w.Cells)-1]
}
