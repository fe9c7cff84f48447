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
	// ModelsDiffer means that the CPU models of the type differ: one ratio would be wrong for each of them.
	ModelsDiffer Code = "ModelsDiffer"
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

func doubts(x *Type, of, base kind, s *Settings) []Doubt {
	var found []Doubt
	add := func(code Code, format string, args ...any) {
		found = append(found, Doubt{code, fmt.Sprintf(format, args...)})
	}
	if x.Cluster.Ratio == 0 {
		add(NotCompared, "no workload that counts has two replicas on this node type and on one that is compared with the baseline, in the same zone and hour: run some workloads on both%s", heldBack(x))
		return found
	}
	if n := min(of.count, base.count); n < s.MinNodes {
		add(TooFewNodes, "the workloads ran on %d nodes of the node type and %d of the baseline: at least %d of each are needed", of.count, base.count, s.MinNodes)
	}
	if x.Workloads < s.MinWorkloads {
		add(TooFewWorkloads, "%d workloads count: at least %d with two replicas on each node type are needed%s", x.Workloads, s.MinWorkloads, heldBack(x))
	}
	if f := max(of.models, base.models); f > s.MaxModelSpread {
		add(ModelsDiffer, "CPU models of the node type or of the baseline differ by a factor of %.2f: set a ratio for each model", f)
	}
	if half := x.Cluster.half(); half > s.Tolerance {
		need := (half / s.Tolerance) * (half / s.Tolerance)
		add(IntervalTooWide, "the interval is ±%.1f%%, but at most ±%.1f%% is allowed: it needs about %.0f workloads on about %.0f nodes of each type",
			100*half, 100*s.Tolerance, math.Ceil(need*float64(max(x.Workloads, 1))), math.Ceil(need*float64(max(min(of.count, base.count), 1))))
	}
	return found
}
