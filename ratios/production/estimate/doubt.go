package estimate

import (
	"fmt"
	"math"
)

// Code is a kind of doubt.
type Code string

const (
	// NotCompared means that no workload that counts compares the type with the baseline, even through others: let
	// workloads with four replicas or more run on both, and wait for about 3 days.
	NotCompared Code = "NotCompared"
	// TooFewNodes means that replicas on too few nodes were compared to tell how much nodes of a type differ: let them run on more.
	TooFewNodes Code = "TooFewNodes"
	// TooFewWorkloads means that too few workloads count to tell how much they differ: see below why others do not count.
	TooFewWorkloads Code = "TooFewWorkloads"
	// TooFewDays means that the ratio is preliminary: too few workloads were compared on enough days to show if slower replicas get less
	// of the work. Wait.
	TooFewDays Code = "TooFewDays"
	// SizesDiffer means that replicas on both node types mostly had different sizes, such as by ratios in effect. So nothing shows whether larger
	// ones do more of the work: let some workloads have equal sizes for some time, or say how much work replicas do.
	SizesDiffer Code = "SizesDiffer"
	// FewCoresCount means that workloads that count hold too small a share of the cores that are known on the type: see below why
	// others do not count.
	FewCoresCount Code = "FewCoresCount"
	// ModelsDiffer means that the CPU models of the type or of the baseline differ in a zone. One ratio would be wrong for each of
	// them: use types with one model each, as node agents label them.
	ModelsDiffer Code = "ModelsDiffer"
	// ZonesDiffer means that the ratio differs between zones, since the type or the baseline has other CPUs there: do the same.
	ZonesDiffer Code = "ZonesDiffer"
	// LoadUnknown means that it is not known how busy the nodes of the type or of the baseline are: collect the usage of all their pods.
	LoadUnknown Code = "LoadUnknown"
	// IntervalTooWide means that the ratio is not known exactly enough: more workloads, nodes or days make it more exact.
	IntervalTooWide Code = "IntervalTooWide"
)

// Doubt is why a ratio must not be applied automatically, with what would remove it.
type Doubt struct {
	Code   Code
	Detail string
}

// soon says how many more workloads will count with time: "; 3 more were compared for too few hours so far".
func soon(x *Type) string {
	if x.Held[TooFewHours] == 0 {
		return ""
	}
	return fmt.Sprintf("; %d more were compared for too few hours so far", x.Held[TooFewHours])
}

// notCompared says what would let a type be compared of which no workload counts.
func notCompared(x *Type, s *Settings) string {
	others := 0
	for _, n := range x.Held {
		others += n
	}
	switch early := x.Held[TooFewHours]; {
	case early > 0:
		return fmt.Sprintf("%s on this node type and on another one for too few hours so far: they show a preliminary ratio after about a day, with %.0f hours of much load, and count in full after about %.0f days",
			run(early), s.FirstHours, pace(s))
	case others > 0:
		return fmt.Sprintf("%s on this node type, and none of them counts: each has a reason of its own", run(others))
	}
	return "no workload has had two replicas on this node type and two on one that is compared with the baseline, in the same zone and hour: let a workload with four replicas or more run on both"
}

// pace returns after how many days a workload counts for ratios that may be applied.
func pace(s *Settings) float64 { return math.Ceil(max(2*s.MinHours/24, s.MinDays)) }

// more returns a number of more days.
func more(days float64) string {
	if days == 1 {
		return "1 more day"
	}
	return fmt.Sprintf("%.0f more days", days)
}

// run returns that a number of workloads run.
func run(n int) string {
	if n == 1 {
		return "1 workload runs"
	}
	return fmt.Sprintf("%d workloads run", n)
}

// known are the facts about a type and the baseline that its doubts follow from.
type known struct {
	of, base kind
	// votes are the votes of the workloads that count and run on the type, alike is as how many with alike votes they count, and cores is the
	// share of the cores there that they use.
	votes, alike, cores float64
	// zones is the factor between the ratios of zones that is certain, and unknown the share of hours in which it is not known how busy nodes were, with
	// the half-width of the interval that only this causes.
	zones, unknown, unknownHalf float64
	// first means that workloads count that are not judged, and wait is after how many more days enough of them are. Sizes is the factor
	// between the sizes of their replicas. It is 1 if it is known of enough workloads that it does not matter.
	first       bool
	wait, sizes float64
}

func doubts(x *Type, k *known, s *Settings) []Doubt {
	var found []Doubt
	add := func(code Code, format string, args ...any) {
		found = append(found, Doubt{code, fmt.Sprintf(format, args...)})
	}
	if x.Cluster.Ratio == 0 {
		add(NotCompared, "%s", notCompared(x, s))
		return found
	}
	nodes := min(k.of.count, k.base.count)
	if nodes < s.MinNodes {
		add(TooFewNodes, "replicas on %d nodes of the node type and %d of the baseline were compared: at least %d of each are needed", k.of.count, k.base.count, s.MinNodes)
	}
	switch {
	case x.Workloads < s.MinWorkloads:
		add(TooFewWorkloads, "%d workloads count: at least %d with two replicas on each node type are needed%s", x.Workloads, s.MinWorkloads, soon(x))
	case math.Round(k.votes) < float64(s.MinWorkloads):
		add(TooFewWorkloads, "%d workloads count, but only as much as %.1f, since most are in namespaces that use few of the cores: run more of those in other namespaces on both node types, at least %d are needed%s",
			x.Workloads, k.votes, s.MinWorkloads, soon(x))
	}
	if k.sizes > 1 {
		add(SizesDiffer, "replicas on both node types mostly had different sizes, by a factor of about %.2f, so that nothing shows whether larger ones do more of the work. "+
			"Let at least %.0f workloads have the same size on both for about %.0f days, or say with the key work how much work replicas do",
			k.sizes, enoughTeach(), pace(s))
	}
	if k.first && (k.wait > 0 || !(k.sizes > 1)) {
		add(TooFewDays, "the ratio is preliminary: about %.0f days show whether slower replicas get less of the work, so wait for about %s", pace(s), more(max(k.wait, 1)))
	}
	if k.cores < s.MinCores {
		add(FewCoresCount, "the workloads that count use %.0f%% of the cores of all workloads that were seen on the node type: at least %.0f%% are needed%s",
			100*k.cores, 100*s.MinCores, soon(x))
	}
	for _, m := range []struct {
		kind
		whose string
	}{{k.of, "the node type"}, {k.base, "the baseline"}} {
		if m.models > s.MaxModelSpread {
			add(ModelsDiffer, "CPU models of %s differ by a factor of at least %.2f in zone %q: set a ratio for each model", m.whose, m.models, m.modelsZone)
		}
	}
	if k.zones > s.MaxModelSpread {
		add(ZonesDiffer, "the ratio differs between zones by a factor of at least %.2f: set a ratio for each CPU model", k.zones)
	}
	if half := x.Cluster.half(); !(half <= s.Tolerance) && k.sizes <= 1 { // Otherwise, the sizes make it uncertain.
		if k.unknownHalf > s.Tolerance {
			add(LoadUnknown, "it is not known how busy nodes were in %.0f%% of the hours, so the ratio is known to ±%.1f%%, but ±%.1f%% is needed: collect the usage of all pods on nodes of both types",
				100*k.unknown, 100*k.unknownHalf, 100*s.Tolerance)
		}
		need := (half / s.Tolerance) * (half / s.Tolerance)
		add(IntervalTooWide, "the ratio is known to ±%.1f%%, but ±%.1f%% is needed: that takes about %.0f workloads on about %.0f nodes of each type, or more days",
			100*half, 100*s.Tolerance, math.Ceil(need*float64(max(x.Workloads, 1))), math.Ceil(need*float64(max(nodes, 1))))
	}
	return found
}
