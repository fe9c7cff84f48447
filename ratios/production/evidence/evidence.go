package evidence

import (
	"math"
	"slices"
)

const (
	// HalfLife is after how many hours evidence counts half: a month has all days of the week several times, and
	// clouds rarely replace the hosts of a type sooner.
	HalfLife = 30 * 24
	// MostCells is how many pairs of types are kept per workload.
	MostCells = 6
	// mostNodes, mostWorkloads and mostNames limit what is kept if names are made up.
	mostNodes, mostWorkloads, mostNames = 20_000, 50_000, 250
	// minReplicas is the smallest number of replicas per type that shows how much replicas differ.
	minReplicas = 2
)

// Evidence is what is known of all workloads. It is not safe for concurrent use.
type Evidence struct {
	// Types and Models are the names that the numbers in cells and nodes mean.
	Types, Models []string
	Workloads     map[Key]*Workload
	Nodes         map[Key]*Node
	// Slowdown is, by type, how replicas on busier nodes differ from others of the same workload and hour.
	Slowdown []Slowdown
	// last is the last hour of any workload. It is not stored.
	last int64
}

// Workload is what is known of a workload.
type Workload struct {
	// Last is the last hour, in hours since 1970.
	Last int64
	// Cores is the mean number of cores that all its replicas use together.
	Cores float64
	// Pulls means that it is known to pull work. Known means that its work per replica is known.
	Pulls, Known bool
	// Throttled is the weight of the hours that do not count because a limit throttled a replica.
	Throttled float64
	Load      Load
	Cells     []Cell
}

// New returns evidence of nothing.
func New() *Evidence {
	return &Evidence{Workloads: make(map[Key]*Workload), Nodes: make(map[Key]*Node)}
}

// index returns the number of a name, which it adds to the names; −1 if there are too many.
func index(names *[]string, name string) int {
	if i := slices.Index(*names, name); i >= 0 {
		return i
	}
	if len(*names) >= mostNames {
		return -1
	}
	*names = append(*names, name)
	return len(*names) - 1
}

// decay is what weights are multiplied by after a number of hours.
func decay(hours int64) float64 { return math.Exp2(-float64(hours) / HalfLife) }

// Forget deletes workloads and nodes without evidence for two half-lives before an hour, in hours since 1970.
func (e *Evidence) Forget(now int64) {
	for key, w := range e.Workloads {
		if now-w.Last > 2*HalfLife {
			delete(e.Workloads, key)
		}
	}
	for key, n := range e.Nodes {
		if now-n.Last > 2*HalfLife {
			delete(e.Nodes, key)
		}
	}
}
