package policy

import (
	"cmp"
	"maps"
	"time"
)

// Demand is where the demand of pods comes from, and how it follows from usage. Values that are nil
// or empty are not set: a rule has the values of the globals, and the globals have the defaults of
// the recommender.
type Demand struct {
	// From is where demand comes from, one of DemandSources, and Mode what happens to a pod whose
	// demand differs from its size.
	From, Mode string
	// Policy turns usage into estimates, one of DemandPolicies.
	Policy string
	// Margin is added to each estimate, e.g. 0.15 of it.
	Margin      *float64
	CPU, Memory ResourceDemand
	// MinHistory and MinCoverage are how much history, and which share of its hours, must be known
	// before a decrease.
	MinHistory  *time.Duration
	MinCoverage *float64
	// Window is the length of the windows of memory peaks, and Windows how many of them are kept.
	Window  *time.Duration
	Windows *int
	// A kill counts as a peak that is larger than the usage by the ratio OOMBump, and by at least
	// OOMMinBump bytes.
	OOMBump    *float64
	OOMMinBump *int64
	// Containers has the bounds of containers by name.
	Containers map[string]BoundsOverride
}

// ResourceDemand is the part of a Demand that differs between cpu and memory. Amounts are in
// millicores and bytes.
type ResourceDemand struct {
	// Target, Lower and Upper are percentiles of samples, e.g. 0.9.
	Target, Lower, Upper *float64
	// Floor is the least that a pod gets, which its containers share.
	Floor *int64
	// Bounds limit each container.
	Bounds RangeOverride
	// RoundTo is the amount to whose multiples requests are rounded up.
	RoundTo *int64
	// Keep never lowers memory, and rounds cpu up to whole cores.
	Keep, Whole *bool
	// HalfLife is the time in which a sample loses half its weight, and Confidence the time after
	// which bounds are trusted.
	HalfLife, Confidence *time.Duration
	// Limit is how the limit follows, one of DemandLimits. A memory limit may be a multiple of the
	// request, and has at least a headroom above it.
	Limit    string
	Multiple *float64
	Headroom *int64
}

// Where demand comes from.
const (
	FromAuthor = "author"
	FromUsage  = "usage"
)

// What happens to a pod whose demand from usage differs from its size. Only Observe exists yet.
const (
	Observe = "observe"
	Initial = "initial"
	Apply   = "apply"
)

// The values of a Demand that are names. The recommender has the policies and limits of these names.
var (
	DemandSources  = []string{FromAuthor, FromUsage}
	DemandPolicies = []string{"usage", "pressure", "week", "peak"}
	DemandLimits   = []string{"follow", "keep", "none", "multiple"}
)

// BoundsOf returns the bounds of a container: its own, or else those of all containers.
func (d *Demand) BoundsOf(container string) BoundsOverride {
	own := d.Containers[container]
	return own.or(BoundsOverride{CPU: d.CPU.Bounds, Memory: d.Memory.Bounds})
}

// IsEmpty reports whether nothing is set.
func (d *Demand) IsEmpty() bool {
	return len(d.Containers) == 0 && d.From == "" && d.Mode == "" && d.Policy == "" && d.Margin == nil && d.CPU == (ResourceDemand{}) &&
		d.Memory == (ResourceDemand{}) && d.MinHistory == nil && d.MinCoverage == nil && d.Window == nil && d.Windows == nil &&
		d.OOMBump == nil && d.OOMMinBump == nil
}

// Over returns the demand with what it does not set from the globals.
func (d *Demand) Over(g *Demand) Demand {
	all := Demand{
		From: cmp.Or(d.From, g.From), Mode: cmp.Or(d.Mode, g.Mode), Policy: cmp.Or(d.Policy, g.Policy),
		Margin: cmp.Or(d.Margin, g.Margin), CPU: d.CPU.over(&g.CPU), Memory: d.Memory.over(&g.Memory),
		MinHistory: cmp.Or(d.MinHistory, g.MinHistory), MinCoverage: cmp.Or(d.MinCoverage, g.MinCoverage),
		Window: cmp.Or(d.Window, g.Window), Windows: cmp.Or(d.Windows, g.Windows),
		OOMBump: cmp.Or(d.OOMBump, g.OOMBump), OOMMinBump: cmp.Or(d.OOMMinBump, g.OOMMinBump),
		Containers: maps.Clone(g.Containers),
	}
	for name, bounds := range d.Containers {
		if all.Containers == nil {
			all.Containers = map[string]BoundsOverride{}
		}
		all.Containers[name] = bounds.or(g.Containers[name])
	}
	return all
}

func (d *ResourceDemand) over(g *ResourceDemand) ResourceDemand {
	return ResourceDemand{
		Target: cmp.Or(d.Target, g.Target), Lower: cmp.Or(d.Lower, g.Lower), Upper: cmp.Or(d.Upper, g.Upper),
		Floor: cmp.Or(d.Floor, g.Floor), Bounds: d.Bounds.or(g.Bounds), RoundTo: cmp.Or(d.RoundTo, g.RoundTo),
		Keep: cmp.Or(d.Keep, g.Keep), Whole: cmp.Or(d.Whole, g.Whole),
		HalfLife: cmp.Or(d.HalfLife, g.HalfLife), Confidence: cmp.Or(d.Confidence, g.Confidence),
		Limit: cmp.Or(d.Limit, g.Limit), Multiple: cmp.Or(d.Multiple, g.Multiple), Headroom: cmp.Or(d.Headroom, g.Headroom),
	}
}
