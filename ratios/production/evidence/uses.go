package evidence

import "slices"

// Uses is how many cores the replicas of a workload use on two types, each in zones where it is compared: replicas elsewhere must not decide how
// much the workload counts there. All hours count, also those that mislead, since their cores are on the types, too.
type Uses struct {
	// N is the weight of the hours, and Cores the means of the first type and of the second.
	N     float64
	Cores [2]float64
}

// use is what replicas of one type use in an hour.
type use struct {
	kind            string
	cores, replicas float64
}

// usesOf returns what replicas use by type, in zones where two types have enough of them that were whole. If their work is known, they are compared
// across zones and days.
func usesOf(replicas []Replica, known bool) []use {
	type group struct {
		use
		zone  string
		whole int
	}
	var groups []group
	for i := range replicas {
		r := &replicas[i]
		if !positive(r.CPU) || !fits(r.NodeType) {
			continue
		}
		zone := r.Zone
		if known {
			zone = ""
		}
		at := slices.IndexFunc(groups, func(g group) bool { return g.kind == r.NodeType && g.zone == zone })
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{use: use{kind: r.NodeType}, zone: zone})
		}
		g := &groups[at]
		g.cores += r.CPU
		g.replicas++
		if r.Whole {
			g.whole++
		}
	}
	groups = slices.DeleteFunc(groups, func(g group) bool { return g.whole < minReplicas })
	var uses []use
	for i := range groups {
		g := &groups[i]
		other := func(o group) bool { return o.zone == g.zone && o.kind != g.kind }
		if !known && !slices.ContainsFunc(groups, other) {
			continue
		}
		if at := slices.IndexFunc(uses, func(u use) bool { return u.kind == g.kind }); at < 0 {
			uses = append(uses, g.use)
		} else {
			uses[at].cores += g.cores
			uses[at].replicas += g.replicas
		}
	}
	return uses
}

// use adds an hour to what a workload uses on the types that it compares: nothing on those on which it is not compared in that hour.
func (e *Evidence) use(w *Workload, uses []use) {
	for i := range w.Cells {
		c := &w.Cells[i]
		c.Uses.N++
		for side, kind := range [2]int{c.A, c.B} {
			cores := 0.0
			if at := slices.IndexFunc(uses, func(u use) bool { return u.kind == e.Types[kind] }); at >= 0 {
				cores = uses[at].cores
			}
			c.Uses.Cores[side] += (cores - c.Uses.Cores[side]) / c.Uses.N
		}
	}
}

// eachOf returns how many cores each replica uses.
func eachOf(uses []use) float64 {
	cores, replicas := 0.0, 0.0
	for _, u := range uses {
		cores += u.cores
		replicas += u.replicas
	}
	return cores / max(replicas, 1)
}

// needs adds an hour of the upper half of load to how many cores each replica uses. Those are half of the hours: nights and quiet days must not hold
// a workload back that needs CPU when it works.
func (w *Workload) needs(each float64) {
	hours := 0.0
	for i := range w.Cells {
		hours = max(hours, w.Cells[i].Uses.N/2)
	}
	w.Each += (each - w.Each) / max(hours, 1)
}
