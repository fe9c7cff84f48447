package ratios

import (
	"fmt"

	"google.golang.org/protobuf/types/known/timestamppb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// overrideText returns the values of an override, in the form that "ratios set" accepts.
func overrideText(o *workloadresizerv1.OverrideValue) string {
	if o == nil {
		return "none"
	}
	text := perfsText(o)
	if o.GetExpireTime() != nil {
		text += " until " + endText(o.GetExpireTime(), o.GetFallback())
	}
	return text
}

func perfsText(o *workloadresizerv1.OverrideValue) string {
	return print.Perf(o.GetCpuPerf()) + "/" + print.Perf(o.GetMemoryPerf())
}

// endText returns when an override ends, and what follows it if that is another override.
func endText(end *timestamppb.Timestamp, fallback *workloadresizerv1.OverrideValue) string {
	text := print.Timestamp(end)
	if fallback != nil {
		text += ", then " + perfsText(fallback)
	}
	return text
}

// Shifted returns "old → new", or just one value if they are equal.
func Shifted(old, new string) string {
	if old == new {
		return old
	}
	return old + " → " + new
}

// delta is what a row is about: how a change changed the override of one node type.
type delta struct {
	of *workloadresizerv1.OverrideChange
	*workloadresizerv1.OverrideDelta
}

func deltasOf(change *workloadresizerv1.OverrideChange) []delta {
	rows := make([]delta, len(change.GetDeltas()))
	for i, d := range change.GetDeltas() {
		rows[i] = delta{change, d}
	}
	return rows
}

// deltaKind describes changes by what they did to overrides.
var deltaKind = objects.Kind[*workloadresizerv1.OverrideChange, delta]{
	Name: func(change *workloadresizerv1.OverrideChange) string {
		return fmt.Sprintf("change/%d", change.GetNumber())
	},
	Rows: deltasOf,
	Columns: []objects.Column[delta]{
		objects.Cell("Node Type", func(d delta) any { return print.OneLine(d.GetNodeType()) }),
		changed("CPU", func(o *workloadresizerv1.OverrideValue) string { return print.Perf(o.GetCpuPerf()) }),
		changed("Memory", func(o *workloadresizerv1.OverrideValue) string { return print.Perf(o.GetMemoryPerf()) }),
		changed("Until", func(o *workloadresizerv1.OverrideValue) string { return endText(o.GetExpireTime(), o.GetFallback()) }),
	},
}

// sides returns the values of a column before and after; "-" is no override or ratio.
func sides[V any](from, to *V, text func(*V) string) string {
	side := func(v *V) string {
		if v == nil {
			return print.Absent
		}
		return text(v)
	}
	return Shifted(side(from), side(to))
}

// changed returns a column with a value of an override before and after.
func changed(header string, text func(*workloadresizerv1.OverrideValue) string) objects.Column[delta] {
	return objects.Cell(header, func(d delta) any { return sides(d.GetFrom(), d.GetTo(), text) })
}

// factorText returns a factor of a ratio, unless its node type is not used.
func factorText(r *workloadresizerv1.Ratio, of func(*workloadresizerv1.Ratio) float64) string {
	if r.GetImplausible() != "" {
		return "not used"
	}
	return print.Factor(of(r))
}

// Shift is how the ratio of a node type changes, from any source; nil means no ratio.
type Shift struct {
	NodeType string
	Old, New *workloadresizerv1.Ratio
}

// ShiftTable shows how ratios change.
func ShiftTable(shifts ...Shift) *metav1.Table { return objects.Table(shiftColumns, shifts...) }

var shiftColumns = []objects.Column[Shift]{
	objects.Cell("Node Type", func(s Shift) any { return print.OneLine(s.NodeType) }),
	shifted("CPU", func(r *workloadresizerv1.Ratio) string { return print.Perf(r.GetCpuPerf()) }),
	shifted("Memory", func(r *workloadresizerv1.Ratio) string { return print.Perf(r.GetMemoryPerf()) }),
	factorShift("CPU Factor", (*workloadresizerv1.Ratio).GetCpuFactor),
	factorShift("Memory Factor", (*workloadresizerv1.Ratio).GetMemoryFactor),
	shifted("Source", func(r *workloadresizerv1.Ratio) string {
		return print.OrAbsent(print.OneLine(r.GetProvenance().GetSource()))
	}),
	shifted("Until", func(r *workloadresizerv1.Ratio) string { return print.Timestamp(r.GetExpireTime()) }),
}

func shifted(header string, text func(*workloadresizerv1.Ratio) string) objects.Column[Shift] {
	return objects.Cell(header, func(s Shift) any { return sides(s.Old, s.New, text) })
}

// factorShift returns a column of a factor. A smaller one frees, a greater one adds, and one that is not used does
// neither.
func factorShift(header string, of func(*workloadresizerv1.Ratio) float64) objects.Column[Shift] {
	return objects.Cell(header, func(s Shift) any {
		cell := print.Cell{Text: sides(s.Old, s.New, func(r *workloadresizerv1.Ratio) string { return factorText(r, of) })}
		from, to := of(s.Old), of(s.New)
		switch {
		case s.New.GetImplausible() != "":
			cell.Style = print.Notable
		case s.Old.GetImplausible() != "" || from == 0 || to == 0 || from == to:
		case to < from:
			cell.Style = print.Freed
		default:
			cell.Style = print.Added
		}
		return cell
	})
}
