package evidence

import (
	"math"
	"slices"
)

// Replica is one pod of a workload in an hour. Its containers share its node and what it is asked to do, so that they are
// not counted one by one: what they use and request is added up.
type Replica struct {
	Node           Key
	NodeType, Zone string
	// CPUModel is the CPU of the node; "" if it is not known.
	CPUModel string
	// CPU is the mean usage of its containers together in cores, and Request the requested cores; 0 if that of any is unknown.
	CPU, Request float64
	// Work is how many units of work it did, such as requests, in any unit that all pods of the workload have in common,
	// per second or in total; 0 if it is not known.
	Work float64
	// Busy is the share of the node's CPUs that other pods kept busy, from 0 to 1; NaN, or below 0, if it is not known.
	Busy float64
	// Whole means that its containers ran through the whole hour, were at least an hour old when
	// it began, were not resized in it, and were measured: caches and compilers were warm.
	Whole bool
	// Throttled means that a limit throttled any container in the hour.
	Throttled bool
	// Revision is the version of the workload that the pod runs.
	Revision Key
}

// busyKnown reports whether it is known how busy the node was.
func (r *Replica) busyKnown() bool { return r.Busy >= 0 }

// Hour is what the pods of a workload used in one hour.
type Hour struct {
	// Workload is the controller of the pods, never one of their containers.
	Workload Key
	// Namespace is the key of its namespace; 0 if it is not known.
	Namespace Key
	// At is the hour, in hours since 1970.
	At int64
	// Pulls means that the workload is known to take work from a queue when it has time for it, so
	// that faster replicas do more of it.
	Pulls    bool
	Replicas []Replica
}

// throttled reports whether a limit throttled a replica that could be compared: many are throttled only while they start.
func (h *Hour) throttled() bool {
	return slices.ContainsFunc(h.Replicas, func(r Replica) bool { return r.Throttled && r.Whole })
}

// usable returns the replicas that can be compared, and whether their work is known. It returns none if
// the hour misleads as a whole: the replicas that remain would not be the typical ones. If the work of at least half of them is
// known, the others are left out.
func (h *Hour) usable() (replicas []Replica, known bool) {
	if h.throttled() {
		return nil, false
	}
	worked := 0
	replicas = make([]Replica, 0, len(h.Replicas))
	for i := range h.Replicas {
		r := &h.Replicas[i]
		if r.Revision != h.Replicas[0].Revision {
			return nil, false
		}
		if !r.Whole || !positive(r.CPU) || !fits(r.NodeType) {
			continue
		}
		if positive(r.Work) {
			worked++
		}
		replicas = append(replicas, *r)
		replicas[len(replicas)-1].Busy = min(r.Busy, 1) // It is measured at other times than the CPUs are counted. NaN stays.
	}
	if worked == 0 || 2*worked < len(replicas) {
		return replicas, false
	}
	return slices.DeleteFunc(replicas, func(r Replica) bool { return !positive(r.Work) }), true
}

// positive reports whether a number is above 0, and finite.
func positive(x float64) bool { return x > 0 && !math.IsInf(x, 0) }

// accept reports whether an hour counts. Usage per unit of work is not mixed with usage: an hour without work is left out
// for a week, and after that, or if work becomes known, what was compared otherwise is forgotten.
func (w *Workload) accept(known bool, at int64) bool {
	const patience = 7 * hoursPerDay
	if known != w.Known {
		if w.worked == 0 { // It was read.
			w.worked = at
		}
		if !known && at-w.worked <= patience {
			return false
		}
		w.Cells, w.Costs, w.open, w.Load = nil, nil, nil, Load{}
	}
	w.Known = known
	if known {
		w.worked = at
	}
	return true
}
