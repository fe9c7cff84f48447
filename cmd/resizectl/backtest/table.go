package backtest

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/usage/backtest"
)

// printRows prints the rows in the format of the flags.
func (o *options) printRows(rows []backtest.Row) error {
	if err := print.SortBy(o.SortBy, rows, print.Fields); err != nil {
		return err
	}
	switch {
	case o.Format.IsDocument():
		return o.Value(map[string]any{"rows": rows})
	case o.Format.IsListing():
		return print.Columns(&o.Output, rows...)
	}
	return o.Table(table(rows))
}

// table returns the rows as a table. The speed is a column if there are several.
func table(rows []backtest.Row) *metav1.Table {
	speeds := false
	for _, r := range rows {
		speeds = speeds || r.Speed != rows[0].Speed
	}
	t := &metav1.Table{}
	add := func(column metav1.TableColumnDefinition, cell func(backtest.Row) string) {
		t.ColumnDefinitions = append(t.ColumnDefinitions, column)
		for i, r := range rows {
			t.Rows[i].Cells = append(t.Rows[i].Cells, cell(r))
		}
	}
	t.Rows = make([]metav1.TableRow, len(rows))
	percent := func(share float64) string { return fmt.Sprintf("%.1f%%", share*100) }
	number := func(n float64, digits int) string { return fmt.Sprintf("%.*f", digits, n) }
	add(print.Column("Policy"), func(r backtest.Row) string { return r.Policy })
	if speeds {
		add(print.Column("Speed"), func(r backtest.Row) string { return fmt.Sprintf("%g", r.Speed) })
	}
	add(print.Column("GiB"), func(r backtest.Row) string { return number(r.GiB, 0) })
	add(print.Column("Cores"), func(r backtest.Row) string { return number(r.Cores, 1) })
	add(print.Column("OOM-days"), func(r backtest.Row) string { return fmt.Sprintf("%.2f%%", r.OOMDays*100) })
	add(print.Column("Bad-days"), func(r backtest.Row) string { return fmt.Sprintf("%.2f%%", r.BadDays*100) })
	if !speeds {
		add(print.Column("Nodes-over"), func(r backtest.Row) string {
			return fmt.Sprintf("%.0f of %.0f", r.OverMemory+r.OverCPU, r.NodeDays)
		})
	}
	add(print.Column("Resizes"), func(r backtest.Row) string { return number(r.Resizes, 2) })
	add(print.Column("OOM-raises"), func(r backtest.Row) string { return number(r.OOMRaises, 2) })
	add(print.Column("Cost"), func(r backtest.Row) string { return number(r.Cost, 0) })
	add(print.WideColumn("Limit-GiB"), func(r backtest.Row) string { return number(r.LimitGiB, 0) })
	add(print.WideColumn("Reversed"), func(r backtest.Row) string { return fmt.Sprint(r.Reversed) })
	add(print.WideColumn("CPU-slack"), func(r backtest.Row) string { return percent(r.CPUSlack) })
	add(print.WideColumn("Memory-slack"), func(r backtest.Row) string { return percent(r.MemorySlack) })
	add(print.WideColumn("CPU-above"), func(r backtest.Row) string { return percent(r.CPUAbove) })
	add(print.WideColumn("Memory-above"), func(r backtest.Row) string { return percent(r.MemoryAbove) })
	add(print.WideColumn("Above-days"), func(r backtest.Row) string { return percent(r.AboveDays) })
	add(print.WideColumn("OOM-kills"), func(r backtest.Row) string { return fmt.Sprint(r.OOMKills) })
	if !speeds {
		add(print.WideColumn("Over-memory"), func(r backtest.Row) string { return number(r.OverMemory, 1) })
		add(print.WideColumn("Over-seen"), func(r backtest.Row) string { return number(r.OverSeen, 1) })
		add(print.WideColumn("Over-CPU"), func(r backtest.Row) string { return number(r.OverCPU, 1) })
		add(print.WideColumn("Memory-slots"), func(r backtest.Row) string { return fmt.Sprintf("%.3f%%", r.MemorySlots*100) })
		add(print.WideColumn("CPU-slots"), func(r backtest.Row) string { return fmt.Sprintf("%.3f%%", r.CPUSlots*100) })
		add(print.WideColumn("Lasting-over"), func(r backtest.Row) string {
			return fmt.Sprintf("%.0f of %.0f", r.Lasting.Over, r.Lasting.NodeDays)
		})
		add(print.WideColumn("Lasting-resizes"), func(r backtest.Row) string { return number(r.Lasting.Resizes, 2) })
		add(print.WideColumn("Moves"), func(r backtest.Row) string { return number(r.Lasting.Moves, 3) })
	}
	return t
}
