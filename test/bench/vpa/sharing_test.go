package main

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/backtest"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trace"
)

// traceForTest returns the machines of TRACE, or of the trace that comes with the project.
func traceForTest(t testing.TB) (machines []*trace.Machine) {
	t.Helper()
	file := os.Getenv("TRACE")
	if file == "" {
		file = "../../../usage/trace/testdata/small.csv.gz"
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := trace.Read(in, func(m *trace.Machine) error { machines = append(machines, m); return nil }); err != nil {
		t.Fatal(err)
	}
	return machines
}

// withWaves returns machines that use more CPU in the same hours of each day, as a multiple of what they use on average.
func withWaves(machines []*trace.Machine, from, until int64, multiple float64) (changed []*trace.Machine) {
	for _, m := range machines {
		sum := 0.0
		for i := range m.Rows {
			sum += float64(m.Rows[i].CPU)
		}
		more := int64(multiple * sum / float64(max(1, len(m.Rows))))
		c := *m
		c.Rows = slices.Clone(m.Rows)
		for i := range c.Rows {
			if hour := c.Rows[i].At / 3600 % 24; hour >= from && hour < until {
				c.Rows[i].CPU += more
			}
		}
		changed = append(changed, &c)
	}
	return changed
}

// sharers returns the policies to compare.
func sharers() []backtest.Policy {
	policies := []backtest.Policy{&vpaPolicy{label: "vpa", config: defaultConfig()}}
	ours := func(label string, sharing *backtest.Sharing) {
		r := &backtest.Recommender{Label: label, History: history.DefaultOptions(), Options: recommend.DefaultOptions(), Sharing: sharing}
		r.Options.MaxGrowth = 0
		if sharing != nil {
			recommend.KeepSlots(&r.History)
			r.History.Hours = sharing.SameHour
		}
		policies = append(policies, r)
	}
	ours("default", nil)
	all := backtest.Shared()
	for _, variant := range []string{"", "-largest", "-correlated", "-memory", "-same-hour"} {
		ours("shared"+variant, all[variant])
	}
	return policies
}

// BenchmarkSharing replays machines whose neighbors share, against the VPA: as they are, with hours in which all of them use
// more, and with more of them that come and go.
func BenchmarkSharing(b *testing.B) {
	machines := traceForTest(b)
	for _, scenario := range []struct {
		name      string
		machines  []*trace.Machine
		recreated time.Duration
	}{
		{"as recorded", machines, 7 * 24 * time.Hour},
		{"8 hours a day with twice the CPU", withWaves(machines, 9, 17, 1), 7 * 24 * time.Hour},
		{"1 hour a day with four times the CPU", withWaves(machines, 12, 13, 3), 7 * 24 * time.Hour},
		{"each machine created again every day", machines, 24 * time.Hour},
		{"each machine created again every 4 hours", machines, 4 * time.Hour},
	} {
		for _, policy := range sharers() {
			b.Run(scenario.name+"/"+policy.Name(), func(b *testing.B) {
				settings := backtest.DefaultSettings()
				settings.Lasting, settings.Recreated = true, scenario.recreated
				for b.Loop() {
					row := backtest.Run(scenario.machines, policy, settings).Summary(backtest.Prices{})[0]
					l := &row.Lasting
					for unit, figure := range map[string]float64{
						"nodes": row.NodeDays, "over": row.OverCPU + row.OverMemory, "cpu-slots%": 100 * row.CPUSlots, "memory-slots%": 100 * row.MemorySlots,
						"oom-days%": 100 * row.OOMDays, "lasting-nodes": l.NodeDays, "lasting-over": l.Over, "lasting-cpu-slots%": 100 * l.CPUSlots,
						"lasting-memory-slots%": 100 * l.MemorySlots, "resizes/day": l.Resizes, "moves/day": l.Moves,
					} {
						b.ReportMetric(figure, unit)
					}
				}
			})
		}
	}
}
