package evidence

import "slices"

// tally has how many workloads are in each half, by type. Those that hardly use CPU show nothing of zones and nodes, and do not count.
type tally [][2]int

// halfOf returns the half of a new workload: that with fewer of the others on the rarest of its types, so that both halves see what the
// nodes and zones of few workloads have in common.
func (e *Evidence) halfOf(key Key, uses []use) int {
	if e.halves == nil {
		e.halves = tally{}
		for _, w := range e.Workloads {
			e.halves.add(w)
		}
	}
	var rarest *[2]int
	for _, u := range uses {
		kind := slices.Index(e.Types, u.kind)
		if kind < 0 || kind >= len(e.halves) { // Nothing else is on it.
			return int(key % 2)
		}
		if n := &e.halves[kind]; rarest == nil || n[0]+n[1] < rarest[0]+rarest[1] {
			rarest = n
		}
	}
	switch {
	case rarest == nil || rarest[0] == rarest[1]:
		return int(key % 2)
	case rarest[0] < rarest[1]:
		return 0
	}
	return 1
}

// add adds a workload.
func (x *tally) add(w *Workload) {
	if w.Each < LeastCPU {
		return
	}
	var kinds []int
	for i := range w.Cells {
		for _, kind := range [2]int{w.Cells[i].A, w.Cells[i].B} {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	for _, kind := range kinds {
		for len(*x) <= kind {
			*x = append(*x, [2]int{})
		}
		(*x)[kind][w.Half]++
	}
}
