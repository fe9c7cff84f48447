package usage

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// table returns the rows as a table, and below them the totals.
func (s *savings) table(o *savingsOptions, rows []*saver) *metav1.Table {
	l := layout{by: o.by, withNamespace: o.allNamespaces || o.by == byNamespace, priced: s.currency != "" || s.total.AuthoredCost != nil, currency: s.currency}
	t := &metav1.Table{ColumnDefinitions: l.savingsColumns()}
	add := func(of *saver, workload string) {
		t.Rows = append(t.Rows, metav1.TableRow{Cells: l.savingsRow(of, workload)})
	}
	for _, of := range rows {
		name := print.Absent
		if of.GetWorkload() != nil {
			name = print.WorkloadName(of.GetWorkload())
		}
		add(of, name)
	}
	if o.by != byNamespace && len(s.namespaces) > 1 {
		for _, of := range s.namespaces {
			add(of, every)
		}
	}
	if len(rows) > 1 {
		add(s.total, every)
	}
	return t
}

func (l layout) savingsColumns() []metav1.TableColumnDefinition {
	var columns []metav1.TableColumnDefinition
	if l.withNamespace {
		columns = append(columns, print.Column("Namespace"))
	}
	if l.by != byNamespace {
		columns = append(columns, print.Column("Workload"))
	}
	columns = append(columns, print.Column("Pods"), print.Column("Unknown"),
		print.Column("CPU"), print.Column("CPU Used"), print.Column("CPU Saved"),
		print.Column("Memory"), print.Column("Memory Used"), print.Column("Memory Saved"))
	currency := print.OneLine(cmp.Or(l.currency, "Cost"))
	if l.priced {
		columns = append(columns, print.Column(currency+" a Month"), print.Column("Saved a Month"))
	}
	columns = append(columns, print.Column("Reverts"), print.Column("OOM Kills"), print.WideColumn("CPU Measured"), print.WideColumn("Memory Measured"))
	if l.priced {
		columns = append(columns, print.WideColumn("Used a Month"))
	}
	return columns
}

func (l layout) savingsRow(s *saver, workload string) []any {
	var cells []any
	if l.withNamespace {
		cells = append(cells, orEvery(s.GetNamespace()))
	}
	if l.by != byNamespace {
		cells = append(cells, workload)
	}
	known := s.GetUnknownPods() < s.GetPods()
	cells = append(cells, fmt.Sprint(s.GetPods()), unknownCell(s.GetUnknownPods()),
		changeCell(true, s.authored.cpu, s.requested.cpu, cores), amountCell(known, s.used.cpu, cores), savedCell(true, s.saved.cpu, cores),
		changeCell(true, s.authored.memory, s.requested.memory, bytes), amountCell(known, s.used.memory, bytes), savedCell(true, s.saved.memory, bytes))
	if l.priced {
		cells = append(cells, monthCells(s.AuthoredCost, s.RequestedCost, s.savedCost())...)
	}
	cells = append(cells, unknownCell(s.GetReverts()), unknownCell(s.GetOomKills()), amountCell(known, s.measured.cpu, cores), amountCell(known, s.measured.memory, bytes))
	if l.priced {
		used := print.Absent
		if known && s.UsedCost != nil {
			used = money(*s.UsedCost)
		}
		cells = append(cells, used)
	}
	return cells
}
