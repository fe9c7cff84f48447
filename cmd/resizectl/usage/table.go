package usage

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
func (r *report) table(o *options, rows []*row) *metav1.Table {
	l := layout{o.by, o.allNamespaces || o.by == byNamespace, r.priced(), r.currency}
	t := &metav1.Table{ColumnDefinitions: l.columns()}
	for _, row := range rows {
		t.Rows = append(t.Rows, l.row(row))
	}
	if o.by != byNamespace && len(r.Namespaces) > 1 {
		for _, of := range r.Namespaces {
			t.Rows = append(t.Rows, l.row(of))
		}
	}
	if len(rows) > 1 {
		t.Rows = append(t.Rows, l.row(&r.Total))
	}
	return t
}

func (l layout) columns() []metav1.TableColumnDefinition {
	var columns []metav1.TableColumnDefinition
	if l.withNamespace {
		columns = append(columns, print.Column("Namespace"))
	}
	count := print.Column("Containers")
	if l.by != byNamespace {
		columns = append(columns, print.Column("Workload"))
	}
	if l.by == byContainer {
		columns = append(columns, print.Column("Container"))
		count = print.Column("Pods")
	}
	columns = append(columns, count, print.Column("Unknown"),
		print.Column("CPU"), print.Column("CPU Used"), print.Column("CPU Saved"),
		print.Column("Memory"), print.Column("Memory Used"), print.Column("Memory Saved"))
	if l.priced {
		currency := l.currency
		if currency == "" {
			currency = "Cost"
		}
		columns = append(columns, print.Column(print.OneLine(currency)+" a Month"), print.Column("Saved a Month"))
	}
	columns = append(columns, print.WideColumn("CPU Now"), print.WideColumn("Memory Now"), print.WideColumn("Unknown CPU"), print.WideColumn("Unknown Memory"))
	if l.by == byContainer {
		for _, name := range []string{"Rule", "Demand From", "Target CPU", "CPU Bounds", "Target Memory", "Memory Bounds", "Confidence", "On Nodes", "Message"} {
			columns = append(columns, print.WideColumn(name))
		}
	}
	return columns
}

func (l layout) row(r *row) metav1.TableRow {
	var cells []any
	if l.withNamespace {
		cells = append(cells, orEvery(r.Namespace))
	}
	if l.by != byNamespace {
		name := every
		if r.Workload != nil {
			name = print.WorkloadName(r.Workload)
		}
		cells = append(cells, name)
	}
	if l.by == byContainer {
		cells = append(cells, orEvery(r.Container))
	}
	cells = append(cells, fmt.Sprint(r.Containers), unknownCell(r.UnknownContainers))
	cells = append(cells, l.sums(&r.sums)...)
	if l.by == byContainer {
		cells = append(cells, itemCells(r.item)...)
	}
	return metav1.TableRow{Cells: cells}
}

func orEvery(name string) string {
	if name == "" {
		return every
	}
	return print.OneLine(name)
}

// unknownCell returns a number that is notable unless it is 0.
func unknownCell(n int64) print.Cell {
	if n == 0 {
		return print.Cell{Text: print.Absent}
	}
	return print.Cell{Text: fmt.Sprint(n), Style: print.Notable}
}

// sums returns the cells from the column CPU on.
func (l layout) sums(s *sums) []any {
	known := s.known() > 0
	saved, unknown := s.saved(), s.unknown()
	cells := []any{
		changeCell(known, s.compared.cpu, s.recommended.cpu, cores), amountCell(known, s.used.cpu, cores), savedCell(known, saved.cpu, cores),
		changeCell(known, s.compared.memory, s.recommended.memory, bytes), amountCell(known, s.used.memory, bytes), savedCell(known, saved.memory, bytes),
	}
	if l.priced {
		cells = append(cells, costCells(known, s)...)
	}
	some := s.UnknownContainers > 0
	return append(cells, cores(s.requested.cpu), bytes(s.requested.memory), amountCell(some, unknown.cpu, cores), amountCell(some, unknown.memory, bytes))
}

func amountCell(known bool, q resource.Quantity, text func(resource.Quantity) string) string {
	if !known {
		return print.Absent
	}
	return text(q)
}

// changeCell returns "authored → recommended".
func changeCell(known bool, from, to resource.Quantity, text func(resource.Quantity) string) print.Cell {
	if !known {
		return print.Cell{Text: print.Absent}
	}
	cell := print.Change(text(from), text(to))
	if cell.Style != print.Plain {
		cell.Style = print.ChangeStyle(from.String(), to.String())
	}
	return cell
}

func savedCell(known bool, q resource.Quantity, text func(resource.Quantity) string) print.Cell {
	if !known {
		return print.Cell{Text: print.Absent}
	}
	return print.Cell{Text: text(q), Style: savedStyle(q.Sign())}
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

// costCells returns the costs of a month.
func costCells(known bool, s *sums) []any {
	if !known {
		return []any{print.Absent, print.Absent}
	}
	return monthCells(s.authoredCost, s.recommendedCost, s.savedCost())
}

// monthCells returns the costs of a month, given those of an hour.
func monthCells(from, to, saved *float64) []any {
	if saved == nil {
		return []any{print.Absent, print.Absent}
	}
	sign := 0
	switch {
	case *saved > 0:
		sign = 1
	case *saved < 0:
		sign = -1
	}
	style := savedStyle(sign)
	return []any{
		print.Cell{Text: money(*from) + " → " + money(*to), Style: style},
		print.Cell{Text: money(*saved), Style: style},
	}
}

// money returns the cost of a month, given that of an hour.
func money(hour float64) string { return fmt.Sprintf("%.2f", hour*monthHours) }

// itemCells returns the cells of a container that are no sums; those of a row with totals are absent.
func itemCells(item *workloadresizerv1.Recommendation) []any {
	if item == nil {
		return []any{"", "", "", "", "", "", "", "", ""}
	}
	cells := []any{print.OrAbsent(print.OneLine(item.GetRule())), print.OrAbsent(print.OneLine(item.GetDemandFrom()))}
	if size := item.GetBaseline(); size != nil {
		cells = append(cells,
			shown(size.GetTarget().GetCpu(), cores), shown(size.GetLower().GetCpu(), cores)+" to "+shown(size.GetUpper().GetCpu(), cores),
			shown(size.GetTarget().GetMemory(), bytes), shown(size.GetLower().GetMemory(), bytes)+" to "+shown(size.GetUpper().GetMemory(), bytes),
			confidence(size.GetCpuConfidence())+"/"+confidence(size.GetMemoryConfidence()))
	} else {
		cells = append(cells, print.Absent, print.Absent, print.Absent, print.Absent, print.Absent)
	}
	return append(cells, print.OrAbsent(onNodes(item)), print.OrAbsent(print.OneLine(item.GetUnknownMessage())))
}

// shown returns an amount of the API for people.
func shown(amount string, text func(resource.Quantity) string) string {
	q, err := resource.ParseQuantity(amount)
	if err != nil {
		return print.OrAbsent(print.OneLine(amount))
	}
	return text(q)
}

// confidence returns how much history there is, with two digits.
func confidence(c float64) string { return fmt.Sprintf("%.2f", c) }

// onNodes returns the sizes on node types, e.g. "n2d: 264m/384Mi (2 pods), n4: unknown (1 pod)".
func onNodes(item *workloadresizerv1.Recommendation) string {
	var parts []string
	for _, on := range item.GetNodeTypes() {
		name, size := print.OneLine(on.GetNodeType()), "unknown"
		if name == "" {
			name = "unknown type"
		}
		if on.GetSize() != nil {
			size = shown(on.GetSize().GetCpu(), cores) + "/" + shown(on.GetSize().GetMemory(), bytes)
		}
		parts = append(parts, fmt.Sprintf("%s: %s (%s)", name, size, print.CountOf(on.GetPods(), "pod")))
	}
	return strings.Join(parts, ", ")
}
