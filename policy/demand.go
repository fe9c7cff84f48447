package policy

import (
	"maps"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Demand is where the demand of pods comes from, and how it follows from usage. It has the same defaults as the
// recommender.
type Demand struct {
	// From is one of FromAuthor and FromUsage. Mode is what happens to a pod whose demand differs from
	// its size.
	From, Mode string
	// Policy is one of DemandPolicies.
	Policy string
	// Margin is a share of the estimate, e.g. 0.15, or ByLimit.
	Margin      float64
	CPU, Memory ResourceDemand
	MinHistory  time.Duration
	MinCoverage float64
	// MaxGrowth is how many times what its author wrote a container gets at most.
	MaxGrowth float64
	// Containers has the bounds of containers by name.
	Containers map[string]keys.Partial[Bounds]
}

// ResourceDemand is the part of a Demand that differs between cpu and memory. Amounts are in
// millicores and bytes.
type ResourceDemand struct {
	// Target is a percentile such as 0.9, or ByLimit.
	Target float64
	// Floor may be ByLimit.
	Floor int64
	// Bounds limit each container.
	Bounds  sizing.Range
	RoundTo int64
	// Steady is the percentile that the steady demand follows under SharedPolicy.
	Steady float64
	// Keep never lowers memory, Whole rounds cpu up to whole cores, and Share lets neighbors share memory under SharedPolicy.
	Keep, Whole, Share bool
	// Limit is one of DemandLimits. Multiple is for limits of memory that are a multiple of the request or of the peak. Headroom is
	// for a multiple of the request, and for the limit that follows.
	Limit    string
	Multiple float64
	Headroom int64
}

// Where demand comes from.
const (
	FromAuthor = "author"
	FromUsage  = "usage"
)

// What happens to a pod whose demand from usage differs from its size.
const (
	// Observe only shows it.
	Observe = "observe"
	// Initial sizes the pod when it is created, and keeps that size while it runs.
	Initial = "initial"
	// Apply resizes the pod.
	Apply = "apply"
)

// The values of a Demand that are names. The recommender has the policies and limits of these names.
var (
	DemandModes    = []string{Observe, Initial, Apply}
	DemandPolicies = []string{"usage", "pressure", "week", "peak", SharedPolicy}
	DemandLimits   = []string{"follow", "keep", "none", "multiple", "peak"}
)

// SharedPolicy is the policy under which containers share with their neighbors what they rarely need. The rest of a Demand
// is as under the first policy.
const SharedPolicy = "shared"

// ByLimit is a value that depends on whether the memory limit follows the request.
const ByLimit = -1

// LongestHistory is how long history is kept. If a decrease needed more, there would be none.
const LongestHistory = 8 * keys.Day

// Keys implements keys.Section.
func (d *Demand) Keys() []keys.Key {
	const day = keys.Day
	const kept = "remove it: history is kept for 8 days, in windows of a day"
	const kills = "remove it: a kill for lack of memory counts as 1.2 times the usage, and as at least 100Mi more"
	return slices.Concat([]keys.Key{
		keys.Of("from", &d.From, keys.OneOf(FromAuthor, FromUsage), FromAuthor, "where demand comes from: what the author wrote, or [usage](../concepts/usage.md)"),
		keys.Of("mode", &d.Mode, keys.OneOf(DemandModes...), Observe, "whether recommendations are only shown (`observe`), size pods when they are created (`initial`), or resize running pods, too (`apply`). Pods are sized at their creation only with the component [`size-at-creation`](sizes.md#at-creation). With `from: author`, the mode has no effect"),
		keys.Of("policy", &d.Policy, keys.OneOf(DemandPolicies...), "usage", "how estimates follow from usage: by percentiles (`usage`), in two parts of which neighbors [share](../concepts/shared.md) one (`shared`), or by [other policies](../design/usage.md#other-policies)"),
		keys.Of("margin", &d.Margin, keys.Between(0, 10, 0.15), ByLimit, "share of the estimate that is added to it").Or("0.15, or 0.05 for memory if its limit follows"),
		keys.Of("minHistory", &d.MinHistory, keys.Duration(0, LongestHistory), day, "how much history must be known before a decrease"),
		keys.Of("minCoverage", &d.MinCoverage, keys.Between(0, 1, 0.5), 0.5, "which share of the hours of that history must be known before a decrease"),
		keys.Of("maxGrowth", &d.MaxGrowth, keys.Between(1, 1000, 4), 4, "how many times the original requests and limits a container gets at most, because it may leak. Bounds may allow less"),
		keys.Gone("window", kept),
		keys.Gone("windows", kept),
		keys.Gone("oomBump", kills),
		keys.Gone("oomMinBump", kills),
		keys.Of("containers", &d.Containers, containers, nil, "bounds of single containers"),
	},
		keys.Below("cpu", d.CPU.keys(&keys.CPU, 0.9, "0.9", 25, "25m", "1m")...),
		keys.Below("cpu",
			keys.Of("wholeCores", &d.CPU.Whole, keys.Flag, false, "whether requests are rounded up to whole cores"),
			keys.Of("limit", &d.CPU.Limit, keys.OneOf("follow", "keep", "none"), "follow", "what happens to a limit that the author set: it keeps its proportion to the request, or stays. `none` would remove it, which a resize cannot do: it stays. In Guaranteed pods, it always follows"),
		),
		keys.Below("memory", d.Memory.keys(&keys.Memory, ByLimit, "0.9, or 0.996 if the memory limit follows", ByLimit, "64Mi, or 250Mi if the memory limit follows", "1 byte")...),
		keys.Below("memory",
			keys.Of("neverLower", &d.Memory.Keep, keys.Flag, false, "whether memory is never lowered, for runtimes whose heap grows to what it is given"),
			keys.Of("limit", &d.Memory.Limit, keys.OneOf("follow", "keep", "multiple", "peak"), "multiple", "what happens to a limit that the author set: it keeps its proportion to the request, stays, is a multiple of the request, or is a multiple of the [highest usage of the last seven days](../design/usage.md#limits-by-the-highest-usage). In Guaranteed pods, it always follows"),
			keys.Of("share", &d.Memory.Share, keys.Flag, false, "whether memory is shared, too, with `policy: shared`. A tenth of the memory of such nodes is kept free"),
			keys.Of("multiple", &d.Memory.Multiple, keys.Between(1, 100, 2), 2, "the multiple, for the limits `multiple` and `peak`"),
			keys.Of("headroom", &d.Memory.Headroom, keys.Memory.Amount(0), 250<<20, "by how much the limit is at least above the request, for the limit `multiple`; where the limit follows, the least that is added to the estimates of a pod, whose containers share it"),
		),
	)
}

// keys returns the keys that both resources have. percent describes the target, least the floor, and unit what requests
// are rounded up to, if they are not set.
func (d *ResourceDemand) keys(of *keys.Resource, target float64, percent string, floor int64, least, unit string) []keys.Key {
	percentile := keys.Number("above 0, up to 1", "must be a number above 0 and at most 1, such as 0.9", func(f float64) bool { return f > 0 && f <= 1 })
	const bounds = "remove it: the bounds follow the 50th and the 95th percentile; set target, margin, min or max"
	return slices.Concat([]keys.Key{
		keys.Of("target", &d.Target, percentile, target, "percentile of the usage that the recommendation follows").Or(percent),
		keys.Of("steady", &d.Steady, percentile, 0.75, "with `policy: shared`, the percentile that the unshared part follows: of the means of cpu in 10 minutes, or of the peaks of memory in 30 minutes"),
		keys.Gone("lower", bounds),
		keys.Gone("upper", bounds),
		keys.Of("floor", &d.Floor, of.Amount(0), floor, "the least that a pod gets; its containers share it").Or(least),
	}, ends(&d.Bounds, of), []keys.Key{
		keys.Of("roundTo", &d.RoundTo, of.Amount(1), 0, "requests are rounded up to multiples of it").Or(unit),
		keys.Gone("halfLife", "remove it: a sample loses half its weight in a day; resizectl backtest --half-life shows what a different time would change"),
		keys.Gone("confidence", "remove it: the bounds are trusted after a day"),
	})
}

// containers are the bounds of containers by name.
var containers = keys.Kind[map[string]keys.Partial[Bounds]]{
	Values: "container name, then `cpu` and `memory` with `min` and `max`",
	Read: func(v reader.Value) (map[string]keys.Partial[Bounds], bool) {
		all := map[string]keys.Partial[Bounds]{}
		v.Each(func(name string, v reader.Value) {
			keys.Name.Key(v, name)
			var bounds keys.Partial[Bounds]
			bounds.Read(v)
			all[name] = bounds
		})
		return all, len(all) > 0
	},
	Merge: func(own, globals map[string]keys.Partial[Bounds]) map[string]keys.Partial[Bounds] {
		all := maps.Clone(globals)
		for name, bounds := range own {
			all[name] = bounds.Over(globals[name])
		}
		return all
	},
}

// BoundsOf returns the bounds of a container: its own, or else those of all containers.
func (d *Demand) BoundsOf(container string) Bounds {
	all := Bounds{CPU: d.CPU.Bounds, Memory: d.Memory.Bounds}
	if own, ok := d.Containers[container]; ok {
		return own.Over(keys.Partial[Bounds]{Values: all}).Values
	}
	return all
}
