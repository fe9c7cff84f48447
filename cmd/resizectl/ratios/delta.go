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

func deltaLine(d *workloadresizerv1.OverrideDelta) string {
	return Shifted(overrideText(d.GetFrom()), overrideText(d.GetTo()))
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

// changed returns a column with a value of an override before and after.
func changed(header string, text func(*workloadresizerv1.OverrideValue) string) objects.Column[delta] {
	side := func(o *workloadresizerv1.OverrideValue) string {
		if o == nil {
			return print.Absent
		}
		return text(o)
	}
	return objects.Cell(header, func(d delta) any { return Shifted(side(d.GetFrom()), side(d.GetTo())) })
}

// factorText returns a factor of a ratio, unless its node type is not used.
func factorText(r *workloadresizerv1.Ratio, of func(*workloadresizerv1.Ratio) float64) string {
	if r.GetImplausible() != "" {
		return "not used"
	}
	return print.Factor(of(r))
}

// ShiftColumns are the columns of ShiftRow.
var ShiftColumns = []metav1.TableColumnDefinition{
	print.Column("Node Type"), print.Column("CPU"), print.Column("Memory"), print.Column("CPU Factor"), print.Column("Memory Factor"), print.Column("Source"), print.Column("Until"),
}

// ShiftRow returns a row that shows how the ratio of a node type changes, from any source;
// nil means no ratio. A smaller factor frees, a greater one adds, and one that is not used does
// neither.
func ShiftRow(nodeType string, old, new *workloadresizerv1.Ratio) metav1.TableRow {
	shift := func(text func(*workloadresizerv1.Ratio) string) string {
		side := func(r *workloadresizerv1.Ratio) string {
			if r == nil {
				return print.Absent
			}
			return text(r)
		}
		return Shifted(side(old), side(new))
	}
	factorShift := func(of func(*workloadresizerv1.Ratio) float64) print.Cell {
		text := shift(func(r *workloadresizerv1.Ratio) string { return factorText(r, of) })
		from, to := of(old), of(new)
		switch {
		case new.GetImplausible() != "":
			return print.Cell{Text: text, Style: print.Notable}
		case old.GetImplausible() != "" || from == 0 || to == 0 || from == to:
			return print.Cell{Text: text}
		case to < from:
			return print.Cell{Text: text, Style: print.Freed}
		}
		return print.Cell{Text: text, Style: print.Added}
	}
	return metav1.TableRow{Cells: []any{
		print.OneLine(nodeType),
		shift(func(r *workloadresizerv1.Ratio) string { return print.Perf(r.GetCpuPerf()) }),
		shift(func(r *workloadresizerv1.Ratio) string { return print.Perf(r.GetMemoryPerf()) }),
		factorShift((*workloadresizerv1.Ratio).GetCpuFactor), factorShift((*workloadresizerv1.Ratio).GetMemoryFactor),
		shift(func(r *workloadresizerv1.Ratio) string {
			return print.OrAbsent(print.OneLine(r.GetProvenance().GetSource()))
		}),
		shift(func(r *workloadresizerv1.Ratio) string { return print.Timestamp(r.GetExpireTime()) }),
	}}
}
