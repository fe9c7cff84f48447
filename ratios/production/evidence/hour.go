package evidence

import (
	"hash/fnv"
	"math"
	"slices"
)

// Key identifies a workload's container or a node, in fewer bytes than its name.
type Key uint64

// KeyOf returns the key of a name.
func KeyOf(name string) Key {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // It never fails.
	return Key(h.Sum64())
}

// Replica is one container of a workload in an hour.
type Replica struct {
	Node           Key
	NodeType, Zone string
	// CPUModel is the CPU of the node; "" if it is not known.
	CPUModel string
	// CPU is the mean usage in cores, and Request the requested cores; 0 if unknown.
	CPU, Request float64
	// Work is how much work the replica did, in any unit; 0 if it is not known.
	Work float64
	// Busy is the share of the node's CPUs that other containers kept busy; NaN if it is not known.
	Busy float64
	// Whole means that the container ran through the whole hour, was at least an hour old when
	// it began, and was not resized in it: caches and compilers were warm.
	Whole bool
	// Throttled means that its limit throttled it in the hour.
	Throttled bool
	// Revision is the version of the workload that the container runs.
	Revision Key
}

// Hour is what the replicas of a workload used in one hour.
type Hour struct {
	Workload Key
	// At is the hour, in hours since 1970.
	At int64
	// Pulls means that the workload is known to take work from a queue when it has time for it, so
	// that faster replicas do more of it.
	Pulls    bool
	Replicas []Replica
}

// throttled reports whether a limit throttled a replica.
func (h *Hour) throttled() bool {
	return slices.ContainsFunc(h.Replicas, func(r Replica) bool { return r.Throttled })
}

// usable returns the replicas that can be compared, and whether the work of all of them is known. It returns none if
// the hour misleads as a whole: the replicas that remain would not be the typical ones.
func (h *Hour) usable() (replicas []Replica, known bool) {
	if h.throttled() {
		return nil, false
	}
	known, replicas = true, make([]Replica, 0, len(h.Replicas))
	for i := range h.Replicas {
		r := &h.Replicas[i]
		if r.Revision != h.Replicas[0].Revision {
			return nil, false
		}
		if !r.Whole || !(r.CPU > 0) || math.IsInf(r.CPU, 0) {
			continue
		}
		known = known && r.Work > 0 && !math.IsInf(r.Work, 0)
		replicas = append(replicas, *r)
	}
	return replicas, known
}

// accept reports whether an hour counts. Usage per unit of work is not mixed with usage: an hour without work is left out
// for a week, and after that, or if work becomes known, what was compared otherwise is forgotten.
func (w *Workload) accept(known bool, at int64) bool {
	const patience = 7 * hoursPerDay
	if known != w.Known {
		for i := range w.Cells {
			if !known && at-w.Cells[i].seen <= patience {
				return false
			}
		}
		w.Cells = nil
	}
	w.Known = known
	return true
}
