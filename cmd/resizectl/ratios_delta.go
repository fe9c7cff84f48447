package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// overrideText is what an override says, as "ratios set" takes it.
func overrideText(o *workloadresizerv1.RatioOverride) string {
	if o == nil {
		return "none"
	}
	text := perf(o.GetCpuPerf()) + "/" + perf(o.GetMemoryPerf())
	if o.GetExpireTime() != nil {
		text += " until " + timestamp(o.GetExpireTime())
	}
	return text
}

// shifted is "old → new", or one of them if they are the same.
func shifted(old, new string) string {
	if old == new {
		return old
	}
	return old + " → " + new
}

func deltaLine(d *workloadresizerv1.RatioDelta) string {
	return shifted(overrideText(d.GetFrom()), overrideText(d.GetTo()))
}

var deltaColumns = []metav1.TableColumnDefinition{
	column("Node Type"), column("CPU"), column("Memory"), column("Until"),
}

// deltaCells are the cells of deltaColumns.
func deltaCells(d *workloadresizerv1.RatioDelta) []any {
	cpu := func(o *workloadresizerv1.RatioOverride) string { return perf(o.GetCpuPerf()) }
	memory := func(o *workloadresizerv1.RatioOverride) string { return perf(o.GetMemoryPerf()) }
	until := func(o *workloadresizerv1.RatioOverride) string { return timestamp(o.GetExpireTime()) }
	return []any{oneLine(d.GetNodeType()), overrideChange(d, cpu), overrideChange(d, memory), overrideChange(d, until)}
}

func overrideChange(d *workloadresizerv1.RatioDelta, text func(*workloadresizerv1.RatioOverride) string) string {
	side := func(o *workloadresizerv1.RatioOverride) string {
		if o == nil {
			return absent
		}
		return text(o)
	}
	return shifted(side(d.GetFrom()), side(d.GetTo()))
}

var shiftColumns = []metav1.TableColumnDefinition{
	column("Node Type"), column("CPU"), column("Memory"), column("CPU Factor"), column("Memory Factor"), column("Source"), column("Until"),
}

// shiftRow shows how the ratio of a node type changes, whichever source decides;
// nil is that there is none. A smaller factor frees, a greater one adds.
func shiftRow(nodeType string, old, new *workloadresizerv1.Ratio) metav1.TableRow {
	shift := func(text func(*workloadresizerv1.Ratio) string) string {
		side := func(r *workloadresizerv1.Ratio) string {
			if r == nil {
				return absent
			}
			return text(r)
		}
		return shifted(side(old), side(new))
	}
	factorShift := func(of func(*workloadresizerv1.Ratio) float64) painted {
		text := shift(func(r *workloadresizerv1.Ratio) string { return factor(of(r)) })
		from, to := of(old), of(new)
		switch {
		case from == 0 || to == 0 || from == to:
			return painted{text: text}
		case to < from:
			return painted{text, freed}
		}
		return painted{text, added}
	}
	return metav1.TableRow{Cells: []any{
		oneLine(nodeType),
		shift(func(r *workloadresizerv1.Ratio) string { return perf(r.GetCpuPerf()) }),
		shift(func(r *workloadresizerv1.Ratio) string { return perf(r.GetMemoryPerf()) }),
		factorShift((*workloadresizerv1.Ratio).GetCpuFactor), factorShift((*workloadresizerv1.Ratio).GetMemoryFactor),
		shift(func(r *workloadresizerv1.Ratio) string { return orAbsent(oneLine(r.GetProvenance().GetSource())) }),
		shift(func(r *workloadresizerv1.Ratio) string { return timestamp(r.GetExpireTime()) }),
	}}
}
