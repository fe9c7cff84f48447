package evidence

import (
	"cmp"
	"math"
	"slices"
)

// Add adds an hour. Hours of a workload come in the order of time; others are ignored.
func (e *Evidence) Add(h Hour) {
	if h.At < 0 || h.At > lastHour {
		return
	}
	replicas, known := h.usable()
	w := e.Workloads[h.Workload]
	if w == nil {
		if (!known && len(replicas) < 2*minReplicas) || len(replicas) < minReplicas || len(e.Workloads) >= mostWorkloads {
			return
		}
		w = &Workload{Last: h.At - 1, Half: e.halfOf(h.Workload, usesOf(h.Replicas, known))}
	}
	if h.At <= w.Last || cores(h.Replicas) == 0 { // Without samples, an hour says nothing, not even that nothing is used.
		return
	}
	e.age(h.At)
	gone := h.At - w.Last
	w.Last = h.At
	w.Pulls = h.Pulls
	if h.Namespace != 0 {
		w.Namespace = h.Namespace
	}
	w.Throttled *= Decay(gone)
	if h.throttled() {
		w.Throttled++
	}
	for i := range w.Cells {
		w.Cells[i].scale(Decay(gone))
	}
	if len(replicas) > 0 && w.accept(known, h.At) {
		e.fold(w, replicas, known, h.At)
	}
	e.use(w, usesOf(h.Replicas, w.Known))
	if len(w.Cells)+len(w.open) > 0 {
		if e.Workloads[h.Workload] == nil {
			e.halves.add(w)
		}
		e.Workloads[h.Workload] = w
	}
}

// fold adds the replicas of an hour that can be compared.
func (e *Evidence) fold(w *Workload, replicas []Replica, known bool, at int64) {
	slices.SortFunc(replicas, func(a, b Replica) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.NodeType, b.NodeType), cmp.Compare(a.Node, b.Node), cmp.Compare(a.CPU, b.CPU))
	})
	var found differences
	var zones []zonal
	for i, j := 0, 0; i < len(replicas); i = j {
		for j = i; j < len(replicas) && replicas[j].Zone == replicas[i].Zone; j++ {
			continue
		}
		zones = e.compare(&found, zones, w, replicas[i:j], known, at)
	}
	if len(found) == 0 && !known {
		return
	}
	load := loadOf(replicas, known)
	upper := w.Load.upper(load)
	each := eachOf(usesOf(replicas, known))
	if upper && each > 0 {
		w.needs(each)
	}
	for i := range found {
		if c := w.cell(found[i].kinds, at); c != nil {
			c.add(&found[i], load, upper, known, at)
		}
	}
	if each >= LeastCPU {
		e.place(zones, 1/(leastSpread+w.spread()), w.Half, at)
	}
	if known {
		e.spend(w, replicas, upper, at)
	}
}

// kind returns the number of a type; −1 if there are too many.
func (e *Evidence) kind(name string) int {
	kind := index(&e.Types, name)
	for len(e.Slowdown) < len(e.Types) {
		e.Slowdown = append(e.Slowdown, Slowdown{})
	}
	return kind
}

// cores returns how much all replicas use together.
func cores(replicas []Replica) float64 {
	sum := 0.0
	for i := range replicas {
		if c := replicas[i].CPU; positive(c) {
			sum += c
		}
	}
	return sum
}

// LeastCPU is how many cores the replicas of a workload use at least on average if they count: below it, whole millicores are not exact, and
// anybody could afford many replicas.
const LeastCPU = 0.02

// countable reports whether replicas use enough CPU to show something about nodes and zones, which others share.
func countable(replicas []Replica) bool { return cores(replicas) >= LeastCPU*float64(len(replicas)) }

// leastSpread is added to the variance between replicas, which few of them may have by chance.
const leastSpread = 0.02

// compare compares the types of a zone in an hour. Replicas are sorted by type. It returns the zones with this one.
func (e *Evidence) compare(found *differences, zones []zonal, w *Workload, replicas []Replica, known bool, at int64) []zonal {
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
		if j-i < minReplicas {
			continue
		}
		kind := e.kind(replicas[i].NodeType)
		if kind < 0 {
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
	compared := len(sides) > 1 && (known || !w.Pulls)
	for i := range sides {
		if !countable(replicas) {
			break
		}
		s := &sides[i]
		e.note(s, replicas[s.first:s.first+int(s.count)], s.of(usage), 1/(leastSpread+spread), compared || known && w.moves(s.kind), w.Half, at)
	}
	if len(sides) < 2 {
		return zones
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
			zones = append(zones, zonal{
				kinds: [2]int{a.kind, b.kind}, zone: replicas[0].Zone, mean: b.middle - a.middle, weight: found.add(a, b),
			})
		}
	}
	return zones
}

// sideOf summarizes the replicas of one type.
func sideOf(kind int, replicas []Replica, usage []float64) side {
	s := side{kind: kind, count: float64(len(replicas)), requested: true}
	for i := range replicas {
		s.mean += usage[i] / s.count
		s.request += replicas[i].Request / s.count
		s.requested = s.requested && positive(replicas[i].Request)
		if replicas[i].busyKnown() {
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
		if at-c.Seen > hoursPerDay && (least < 0 || c.weight() < w.Cells[least].weight()) {
			least = i
		}
	}
	if len(w.Cells) >= MostCells {
		if least < 0 {
			return nil
		}
		w.Cells = slices.Delete(w.Cells, least, least+1)
	}
	w.Cells = append(w.Cells, Cell{A: kinds[0], B: kinds[1], Seen: at})
	return &w.Cells[len(w.Cells)-1]
}
