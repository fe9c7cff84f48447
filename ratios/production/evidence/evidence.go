package evidence

import (
	"maps"
	"math"
	"slices"
)

const (
	// HalfLife is after how many hours evidence counts half: a month has all days of the week several times, and
	// clouds rarely replace the hosts of a type sooner.
	HalfLife = 30 * hoursPerDay
	// MostCells is how many pairs of types are kept per workload.
	MostCells = 5
	// MostCosts is how many types are kept per workload whose work per replica is known.
	MostCosts = 3
	// MostPlaces is how many pairs of types are compared between zones.
	MostPlaces = 1000
	// mostNodes, mostWorkloads and mostNames limit what is kept if names are made up.
	mostNodes, mostWorkloads, mostNames = 20_000, 20_000, 250
	// lastHour is the last hour that can be stored.
	lastHour = 1<<32 - 1
	// minReplicas is the smallest number of replicas per type that shows how much replicas differ.
	minReplicas = 2
	hoursPerDay = 24
)

// Evidence is what is known of all workloads. It is not safe for concurrent use: who estimates uses a Clone.
type Evidence struct {
	// Types, Models and Zones are the names that the numbers in cells, nodes and places mean.
	Types, Models, Zones []string
	Workloads            map[Key]*Workload
	Nodes                map[Key]*Node
	// Slowdown is, by type, how replicas on busier nodes differ from others of the same workload and hour.
	Slowdown []Slowdown
	// Places are how pairs of types differ in a zone from other zones.
	Places []Place
	// last is the last hour of any workload, and halves has the halves of all since the last Forget. They are not stored.
	last   int64
	halves tally
}

// Workload is what is known of a workload.
type Workload struct {
	// Last is the last hour, in hours since 1970.
	Last int64
	// Namespace is the key of its namespace; 0 if it is not known.
	Namespace Key
	// Pulls means that it is known to pull work. Known means that its work per replica is known: CPU per unit of work is
	// compared then.
	Pulls, Known bool
	// Half is the half of the workloads that it belongs to: see Node and Place.
	Half int
	// Each is how many cores each replica that is compared uses on average in hours of the upper half of load.
	Each float64
	// Throttled is the weight of the hours that do not count because a limit throttled a replica.
	Throttled float64
	Load      Load
	Cells     []Cell
	// Costs are what a unit of work cost on each type on the last day there, if work is known.
	Costs []Cost
	// open are the costs of the current day, and worked is the last hour whose work was known. They are not stored.
	open   []Cost
	worked int64
}

// New returns evidence of nothing.
func New() *Evidence {
	return &Evidence{Workloads: make(map[Key]*Workload), Nodes: make(map[Key]*Node)}
}

// Clone returns a copy that shares nothing, in milliseconds: evidence can be added while the copy is estimated.
func (e *Evidence) Clone() *Evidence {
	c := *e
	c.Types, c.Models, c.Zones = slices.Clone(e.Types), slices.Clone(e.Models), slices.Clone(e.Zones)
	c.Slowdown, c.Places, c.halves = slices.Clone(e.Slowdown), slices.Clone(e.Places), slices.Clone(e.halves)
	c.Workloads, c.Nodes = maps.Clone(e.Workloads), maps.Clone(e.Nodes)
	workloads, nodes := make([]Workload, 0, len(e.Workloads)), make([]Node, 0, len(e.Nodes))
	for key, w := range e.Workloads {
		workloads = append(workloads, *w)
		x := &workloads[len(workloads)-1]
		x.Cells, x.Costs, x.open = slices.Clone(w.Cells), slices.Clone(w.Costs), slices.Clone(w.open)
		c.Workloads[key] = x
	}
	for key, n := range e.Nodes {
		nodes = append(nodes, *n)
		c.Nodes[key] = &nodes[len(nodes)-1]
	}
	return &c
}

// Decay is what weights are multiplied by after a number of hours.
func Decay(hours int64) float64 { return math.Exp2(-float64(hours) / HalfLife) }
