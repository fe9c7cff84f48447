package estimate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Code is a kind of doubt.
type Code string

const (
	// NotCompared means that no workload that counts compares the type with the baseline, even through others.
	NotCompared Code = "NotCompared"
	// TooFewNodes, and TooFewWorkloads, mean that they are too few to tell how much they differ.
	TooFewNodes     Code = "TooFewNodes"
	TooFewWorkloads Code = "TooFewWorkloads"
	// FewCoresCount means that workloads that count hold too small a share of the cores that are known on the type.
	FewCoresCount Code = "FewCoresCount"
	// ModelsDiffer means that the CPU models of the type or of the baseline differ in a zone: one ratio would be wrong for each of them.
	ModelsDiffer Code = "ModelsDiffer"
	// ZonesDiffer means that the ratio differs between zones: the type or the baseline has other CPUs there.
	ZonesDiffer Code = "ZonesDiffer"
	// LoadUnknown means that it is not known how busy the nodes of the type or of the baseline are.
	LoadUnknown Code = "LoadUnknown"
	// IntervalTooWide means that the interval for this cluster is wider than the tolerance.
	IntervalTooWide Code = "IntervalTooWide"
)

// Doubt is why a ratio must not be applied automatically, with what would remove it.
type Doubt struct {
	Code   Code
	Detail string
}

// heldBack says which workloads would count if they did not mislead: "; 3 are held back (Pulls: 1, TooFewHours: 2)".
func heldBack(x *Type) string {
	sum := 0
	var each []string
	for _, reason := range slices.Sorted(maps.Keys(x.Held)) {
		sum += x.Held[reason]
		each = append(each, fmt.Sprintf("%s: %d", reason, x.Held[reason]))
	}
	if sum == 0 {
		return ""
	}
	return fmt.Sprintf("; %d are held back (%s)", sum, strings.Join(each, ", "))
}

// known are the facts about a type and the baseline that its doubts follow from.
type known struct {
	of, base kind
	// votes are the votes of the workloads that count and run on the type, alike is as how many with alike votes they count, and cores is the
	// share of the cores there that they use.
	votes, alike, cores float64
	// zones is the factor between the ratios of zones, and unknown the share of hours in which it is not known how busy nodes were, with
	// the half-width of the interval that only this causes.
	zones, unknown, unknownHalf float64
}

func doubts(x *Type, k *known, s *Settings) []Doubt {
	var found []Doubt
	add := func(code Code, format string, args ...any) {
		found = append(found, Doubt{code, fmt.Sprintf(format, args...)})
	}
	if x.Cluster.Ratio == 0 {
		add(NotCompared, "no workload that counts has two replicas on this node type and on one that is compared with the baseline, in the same zone and hour: run some workloads on both%s", heldBack(x))
		return found
	}
	nodes := min(k.of.count, k.base.count)
	if nodes < s.MinNodes {
		add(TooFewNodes, "replicas on %d nodes of the node type and %d of the baseline were compared: at least %d of each are needed", k.of.count, k.base.count, s.MinNodes)
	}
	switch {
	case x.Workloads < s.MinWorkloads:
		add(TooFewWorkloads, "%d workloads count: at least %d with two replicas on each node type are needed%s", x.Workloads, s.MinWorkloads, heldBack(x))
	case math.Round(k.votes) < float64(s.MinWorkloads):
		add(TooFewWorkloads, "%d workloads count, but only as much as %.1f, since most are in namespaces that use few of the cores: run more of those in other namespaces on both node types, at least %d are needed%s",
			x.Workloads, k.votes, s.MinWorkloads, heldBack(x))
	}
	if k.cores < s.MinCores {
		add(FewCoresCount, "the workloads that count use %.0f%% of the cores of all workloads that were seen on the node type: at least %.0f%% are needed%s",
			100*k.cores, 100*s.MinCores, heldBack(x))
	}
	for _, m := range []struct {
		kind
		whose string
	}{{k.of, "the node type"}, {k.base, "the baseline"}} {
		if m.models > s.MaxModelSpread {
			add(ModelsDiffer, "CPU models of %s differ by a factor of %.2f in zone %q: set a ratio for each model", m.whose, m.models, m.modelsZone)
		}
	}
	if k.zones > s.MaxModelSpread {
		add(ZonesDiffer, "the ratio differs between zones by a factor of %.2f: set a ratio for each CPU model", k.zones)
	}
	if half := x.Cluster.half(); !(half <= s.Tolerance) {
		if k.unknownHalf > s.Tolerance {
			add(LoadUnknown, "it is not known how busy the nodes were in %.0f%% of the hours, which makes the interval ±%.1f%% wide, but at most ±%.1f%% is allowed: measure all nodes of the node type and of the baseline",
				100*k.unknown, 100*k.unknownHalf, 100*s.Tolerance)
		}
		need := (half / s.Tolerance) * (half / s.Tolerance)
		add(IntervalTooWide, "the interval is ±%.1f%%, but at most ±%.1f%% is allowed: it needs about %.0f workloads on about %.0f nodes of each type",
			100*half, 100*s.Tolerance, math.Ceil(need*float64(max(x.Workloads, 1))), math.Ceil(need*float64(max(nodes, 1))))
	}
	return found
}
