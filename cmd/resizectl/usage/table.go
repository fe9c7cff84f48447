package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// every stands for every namespace, workload or container, as in the table of holds.
const every = "*"

// layout is which columns a table has.
type layout struct {
	by            by
	withNamespace bool
	priced        bool
	currency      string
}

// table returns the rows as a table, and below them the totals.
func (r *report) table(l layout, rows []*row) *metav1.Table {
	shown := slices.Clone(rows)
	if namespaces := r.rows[byNamespace]; l.by != byNamespace && len(namespaces) > 1 {
		shown = append(shown, namespaces...)
	}
	if len(rows) > 1 {
		shown = append(shown, r.total)
	}
	if r.saves {
		return objects.Table(l.savingsColumns(), shown...)
	}
	return objects.Table(l.columns(), shown...)
}

type column = objects.Column[*row]

// only returns columns that a table has on a condition.
func only(has bool, columns ...column) []column {
	if !has {
		return nil
	}
	return columns
}

// nameColumns say what a row is about; count is what it counts.
func (l layout) nameColumns(count string) []column {
	return slices.Concat(
		only(l.withNamespace, objects.Cell("Namespace", func(r *row) any { return orEvery(r.namespace) })),
		only(l.by != byNamespace, objects.Cell("Workload", func(r *row) any { return r.workloadText() })),
		only(l.by == byContainer, objects.Cell("Container", func(r *row) any { return orEvery(r.container) })),
		[]column{objects.Count(count, func(r *row) int64 { return r.sums.pods }), notable("Unknown", func(s *sums) int64 { return s.unknownPods })},
	)
}

func (r *row) workloadText() string {
	switch {
	case r.workload != nil:
		return print.WorkloadName(r.workload)
	case r.message != nil:
		return print.Absent // These pods count for no workload.
	}
	return every
}

func orEvery(name string) string { return cmp.Or(print.OneLine(name), every) }

// notable is a column of numbers that are notable unless they are 0.
func notable(header string, of func(*sums) int64) column {
	return objects.Cell(header, func(r *row) any {
		if n := of(&r.sums); n != 0 {
			return print.Cell{Text: fmt.Sprint(n), Style: print.Notable}
		}
		return print.Cell{Text: print.Absent}
	})
}

// columns returns the columns of usage.
func (l layout) columns() []column {
	known := func(s *sums) bool { return s.known() > 0 }
	some := func(s *sums) bool { return s.unknownPods > 0 }
	change := func(s *sums) (from, to amounts) { return s.compared, s.recommended }
	count := "Containers"
	if l.by == byContainer {
		count = "Pods"
	}
	return slices.Concat(
		l.nameColumns(count), sumColumns(known, known, change), only(l.priced, l.monthColumns(known)...),
		[]column{
			objects.Cell("CPU Now", func(r *row) any { return print.CPU.Text(r.sums.requested.cpu) }).Wide(),
			objects.Cell("Memory Now", func(r *row) any { return print.Memory.Text(r.sums.requested.memory) }).Wide(),
			amountColumn("Unknown CPU", some, cpu, (*sums).unknown).Wide(), amountColumn("Unknown Memory", some, memory, (*sums).unknown).Wide(),
		},
		only(l.by == byContainer, itemColumns...),
	)
}

// savingsColumns returns the columns of usage savings.
func (l layout) savingsColumns() []column {
	always := func(*sums) bool { return true }
	known := func(s *sums) bool { return s.known() > 0 }
	measured := func(s *sums) amounts { return s.measured }
	change := func(s *sums) (from, to amounts) { return s.authored, s.requested }
	return slices.Concat(
		l.nameColumns("Pods"), sumColumns(always, known, change), only(l.priced, l.monthColumns(always)...),
		[]column{
			notable("Reverts", func(s *sums) int64 { return s.reverts }), notable("OOM Kills", func(s *sums) int64 { return s.kills }),
			amountColumn("CPU Measured", known, cpu, measured).Wide(), amountColumn("Memory Measured", known, memory, measured).Wide(),
		},
		only(l.priced, objects.Cell("Used a Month", func(r *row) any {
			if r.sums.known() == 0 || r.sums.cost.used == nil {
				return print.Absent
			}
			return money(*r.sums.cost.used)
		}).Wide()),
	)
}

// kind is a resource, and its part of amounts.
type kind struct {
	print.Resource
	of func(amounts) resource.Quantity
}

var (
	cpu    = kind{print.CPU, func(a amounts) resource.Quantity { return a.cpu }}
	memory = kind{print.Memory, func(a amounts) resource.Quantity { return a.memory }}
)

// sumColumns say of both resources how much changes, is used and saved, as far as that is known.
func sumColumns(known, usedKnown func(*sums) bool, change func(*sums) (from, to amounts)) (columns []column) {
	for _, k := range []kind{cpu, memory} {
		columns = append(columns,
			sumColumn(k.Title, known, func(s *sums) any {
				from, to := change(s)
				authored, changed := k.of(from), k.of(to)
				return k.Change(authored.String(), changed.String())
			}),
			amountColumn(k.Title+" Used", usedKnown, k, func(s *sums) amounts { return s.used }),
			sumColumn(k.Title+" Saved", known, func(s *sums) any {
				saved := k.of(s.saved)
				return print.Cell{Text: k.Text(saved), Style: savedStyle(saved.Sign())}
			}))
	}
	return columns
}

// sumColumn is a column that says something if the sums are known.
func sumColumn(header string, known func(*sums) bool, cell func(*sums) any) column {
	return objects.Cell(header, func(r *row) any {
		if !known(&r.sums) {
			return print.Absent
		}
		return cell(&r.sums)
	})
}

func amountColumn(header string, known func(*sums) bool, k kind, of func(*sums) amounts) column {
	return sumColumn(header, known, func(s *sums) any { return k.Text(k.of(of(s))) })
}

// savedStyle returns the style of what is saved: less than nothing is more on the nodes.
func savedStyle(sign int) print.Style {
	switch {
	case sign > 0:
		return print.Freed
	case sign < 0:
		return print.Added
	}
	return print.Plain
}

// monthColumns say what a month costs, and what is saved.
func (l layout) monthColumns(known func(*sums) bool) []column {
	month := func(header string, text func(c cost, saved float64) string) column {
		return sumColumn(header, known, func(s *sums) any {
			saved := s.cost.saved()
			if saved == nil {
				return print.Absent
			}
			return print.Cell{Text: text(s.cost, *saved), Style: savedStyle(cmp.Compare(*saved, 0))}
		})
	}
	return []column{
		month(print.OneLine(cmp.Or(l.currency, "Cost"))+" a Month", func(c cost, _ float64) string { return money(*c.authored) + " → " + money(*c.changed) }),
		month("Saved a Month", func(_ cost, saved float64) string { return money(saved) }),
	}
}

// money returns the cost of a month, given that of an hour.
func money(hour float64) string { return fmt.Sprintf("%.2f", hour*monthHours) }

// Month returns what an hour costs as the cost of a month, e.g. "73.00 USD".
func Month(hour float64, currency string) string {
	return strings.TrimSpace(money(hour) + " " + print.OneLine(currency))
}

// itemColumns say of a container what is no sum; those of a row with totals are empty.
var itemColumns = []column{
	itemColumn("Rule", (*workloadresizerv1.Recommendation).GetRule),
	itemColumn("Demand From", (*workloadresizerv1.Recommendation).GetDemandFrom),
	sizeColumn("Target CPU", func(size *workloadresizerv1.RecommendedSize) string {
		return print.CPU.Amount(size.GetTarget().GetCpu())
	}),
	sizeColumn("CPU Bounds", func(size *workloadresizerv1.RecommendedSize) string {
		return boundsText(print.CPU, size.GetLower().GetCpu(), size.GetUpper().GetCpu())
	}),
	sizeColumn("Target Memory", func(size *workloadresizerv1.RecommendedSize) string {
		return print.Memory.Amount(size.GetTarget().GetMemory())
	}),
	sizeColumn("Memory Bounds", func(size *workloadresizerv1.RecommendedSize) string {
		return boundsText(print.Memory, size.GetLower().GetMemory(), size.GetUpper().GetMemory())
	}),
	sizeColumn("Confidence", func(size *workloadresizerv1.RecommendedSize) string {
		return confidence(size.GetCpuConfidence()) + "/" + confidence(size.GetMemoryConfidence())
	}),
	itemColumn("On Nodes", onNodes),
	itemColumn("Message", (*workloadresizerv1.Recommendation).GetUnknownMessage),
}

func itemColumn(header string, text func(*workloadresizerv1.Recommendation) string) column {
	return objects.Cell(header, func(r *row) any {
		if r.item == nil {
			return ""
		}
		return print.OrAbsent(print.OneLine(text(r.item)))
	}).Wide()
}

func sizeColumn(header string, text func(*workloadresizerv1.RecommendedSize) string) column {
	return itemColumn(header, func(item *workloadresizerv1.Recommendation) string {
		if item.GetBaseline() == nil {
			return print.Absent
		}
		return text(item.GetBaseline())
	})
}

// boundsText returns the bounds of a resource for people, e.g. "200m to 330m".
func boundsText(of print.Resource, lower, upper string) string {
	most := print.AnyAmount
	if !print.Unbounded(of.Name, upper) {
		most = of.Amount(upper)
	}
	return of.Amount(lower) + " to " + most
}

// confidence returns how much history there is, with two digits.
func confidence(c float64) string { return fmt.Sprintf("%.2f", c) }

// onNodes returns the sizes on node types, e.g. "n2d: 264m/384Mi (2 pods), n4: unknown (1 pod)".
func onNodes(item *workloadresizerv1.Recommendation) string {
	var parts []string
	for _, on := range item.GetNodeTypes() {
		name, size := cmp.Or(print.OneLine(on.GetNodeType()), "unknown type"), "unknown"
		if on.GetSize() != nil {
			size = print.CPU.Amount(on.GetSize().GetCpu()) + "/" + print.Memory.Amount(on.GetSize().GetMemory())
		}
		parts = append(parts, fmt.Sprintf("%s: %s (%s)", name, size, print.CountOf(on.GetPods(), "pod")))
	}
	return strings.Join(parts, ", ")
}
