package backtest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/usage/backtest"
)

type options struct {
	print.Output
	input    input
	policies []string
	more     []backtest.Policy
	changes  changes
	// given says which flags are given.
	given  func(flag string) bool
	speeds []float64
	node   string
	prices backtest.Prices
	plot   string
	every  time.Duration
	badDay float64
}

// NewCommand returns backtest. It knows more policies than its own if the caller adds them.
func NewCommand(out print.Output, more ...backtest.Policy) *cobra.Command {
	o := &options{Output: out, more: more}
	cmd := &cobra.Command{
		Use:   "backtest",
		Short: "Replay recorded usage, and compare policies for sizes",
		Long: `Replay recorded usage, and show what would have happened under different policies:
how much the machines would have requested, how often they would have been killed
because of their memory, and how often they would have been resized.

FILE is a trace, possibly compressed with gzip: for each machine, a row

  vm NAME cores CORES memory_kib KIB mhz MHZ

with what it was given, and then a row TIME,CORES_USED,KIB_USED for each sample.
The first time of a machine is in Unix seconds, the others in seconds since the
row before. A machine with 0 cores or KiB, which are unknown, is left out.

With --prometheus, the command replays what containers used instead, by the metrics
of the kubelet's cAdvisor. What they were given, and what they belong to, comes from
kube-state-metrics. Each replica of a container is a machine. If the Prometheus fails
or you press Ctrl-C, the answers so far are kept in your cache folder for a day: the
same command then asks only for the rest.

Without either, the command replays generated machines.

The policies are

` + describe(own(unchanged(), nil)) + `
Flags such as --margin change the options of "default", or of "follow" with
--limit-follows. The result is the policy "changed". docs/design/usage.md explains the rules
of a replay. The columns:

  GIB, CORES                  the sum over machines of their mean requests
  OOM-DAYS                    share of the days of a machine with at least one OOM kill
  BAD-DAYS                    share of the days with many CPU samples above the request (--bad-day)
  NODES-OVER                  days of a node on which usage exceeded it
  RESIZES                     resizes per machine and day, except OOM raises
  OOM-RAISES                  resizes per machine and day that raised memory because of a kill
  COST                        the price of the requests for a month
  LIMIT-GIB                   the sum over machines of their mean memory limits
  REVERSED                    resizes in the other direction less than an hour after one
  CPU-SLACK, MEMORY-SLACK     share of the requests that was not used
  CPU-ABOVE, MEMORY-ABOVE     share of the samples above the request
  ABOVE-DAYS                  share of the days of a machine with memory above the request
  OVER-MEMORY, OVER-CPU       the parts of NODES-OVER
  OVER-SEEN                   days of a node on which memory up to the limits exceeded it

This needs no server.`,
		Example: `  # Compare policies on a trace
  resizectl backtest --trace usage.csv.gz

  # Compare policies on the last 30 days of a cluster
  resizectl backtest --prometheus http://localhost:9090

  # Compare a higher percentile with the defaults, and plot the result
  resizectl backtest --trace usage.csv.gz --memory-percentile 0.95 --plot result.svg

  # Compare more room for Guaranteed pods with the defaults
  resizectl backtest --trace usage.csv.gz --policy follow,changed --limit-follows --headroom 500Mi

  # Run each machine on nodes of four speeds
  resizectl backtest --trace usage.csv.gz --policy default,mixed --speeds 1,1.08,1.25,1.46`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	command.AddRowFlags(cmd, &o.Output)
	f := cmd.Flags()
	o.input.addFlags(f)
	f.StringSliceVar(&o.policies, "policy", nil, "policies to compare (default authored, compat, default and follow, and changed if an option is changed)")
	f.Float64SliceVar(&o.speeds, "speeds", []float64{1}, "speeds of nodes, relative to the baseline; each machine runs on a node of each speed")
	f.StringVar(&o.node, "node", "16,64Gi", "cores and memory of the nodes that requests are packed on")
	f.Float64Var(&o.prices.Core, "price-core", 18, "price of a requested core for a month")
	f.Float64Var(&o.prices.GiB, "price-gib", 2.4, "price of a requested GiB for a month")
	command.DurationVar(f, &o.every, "every", time.Hour, "time between decisions of a policy")
	f.Float64Var(&o.badDay, "bad-day", 0.05, "share of a day's CPU samples above the request from which the day is bad")
	f.StringVar(&o.plot, "plot", "", "SVG file to write with memory against days with a kill")
	o.changes.addFlags(f)
	return cmd
}

func (o *options) run(cmd *cobra.Command) error {
	o.given = cmd.Flags().Changed
	settings, err := o.settings()
	if err == nil {
		err = o.input.check(o.given)
	}
	if err != nil {
		return command.UsageErrorf(cmd, "%v", err)
	}
	if err := o.complete(o.given); err != nil {
		return command.UsageErrorf(cmd, "%v", err)
	}
	policies, err := o.choose()
	if err != nil {
		return command.UsageErrorf(cmd, "%v", err)
	}
	machines, err := o.input.read(cmd.Context(), o.In, o.ErrOut)
	if err != nil {
		return err
	}
	var rows []backtest.Row
	line := print.NewProgress(o.ErrOut)
	defer line.Clear()
	for i, policy := range policies {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		line.Of("replaying", int64(i), int64(len(policies)), fmt.Sprintf("%d policies", len(policies)))
		rows = append(rows, backtest.Run(machines, policy, settings).Summary(o.prices)...)
	}
	if len(rows) == 0 || rows[0].MachineDays == 0 {
		return fmt.Errorf("no machine has more than %d days of usage: policies learn from them, so they do not count", settings.Warmup/(24*time.Hour))
	}
	line.Clear()
	// The replay may have taken long: a plot that cannot be written must not lose the table.
	if err := o.printRows(rows); err != nil {
		return err
	}
	if o.plot != "" {
		if err := o.writePlot(rows); err != nil {
			return err
		}
	}
	o.input.forget()
	return nil
}

// complete returns which flag is empty, or would be ignored.
func (o *options) complete(given func(flag string) bool) error {
	switch {
	case given("plot") && o.plot == "":
		return errors.New("--plot is empty: expected an SVG file to write")
	case given("policy") && len(o.policies) == 0:
		return errors.New("--policy is empty: expected names such as default,compat")
	case len(o.policies) > 0 && o.changes.any() != slices.Contains(o.policies, changed):
		return fmt.Errorf("the policy %q and the flags that change options, such as --margin, require each other", changed)
	}
	return nil
}

// choose returns the policies to compare.
func (o *options) choose() (chosen []backtest.Policy, err error) {
	all := slices.Concat(own(o.changes, o.given), o.more)
	names := o.policies
	if len(names) == 0 {
		names = slices.Concat([]string{"authored"}, print.Each(o.more, backtest.Policy.Name), []string{"compat", "default", "follow"})
		if o.changes.any() {
			names = append(names, changed)
		}
	}
	for n, name := range names {
		if slices.Contains(names[:n], name) {
			return nil, fmt.Errorf("policy %q is given twice", name)
		}
		i := slices.IndexFunc(all, func(p backtest.Policy) bool { return p.Name() == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown policy %q: expected one of %s", name, strings.Join(print.Each(all, backtest.Policy.Name), ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// writePlot writes the plot to its file.
func (o *options) writePlot(rows []backtest.Row) error {
	file, err := os.Create(o.plot)
	if err != nil {
		return fmt.Errorf("create the plot: %w", err)
	}
	if err := backtest.Plot(file, rows); err != nil {
		return fmt.Errorf("write the plot: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write the plot: %w", err)
	}
	return nil
}

// printRows prints the rows in the format of the flags.
func (o *options) printRows(rows []backtest.Row) error {
	if err := print.Sort(o.SortBy, rows); err != nil {
		return err
	}
	switch {
	case o.Format.IsDocument():
		return o.Value(map[string]any{"rows": rows})
	case o.Format.IsListing():
		return print.Listing(&o.Output, nil, rows...)
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
	}
	return t
}
