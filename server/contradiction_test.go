package server

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/production"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// shown is what production shows.
type shown production.View

func (s *shown) View() *production.View { return (*production.View)(s) }

func TestContradictionMetric(t *testing.T) {
	store := ratios.NewStore(ratiotest.NewMemory("configmap", ratios.Update{Layer: &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{
		"n2d": {CPUPerf: 1, MemoryPerf: 1, Provenance: ratios.Provenance{Source: "configmap"}}, "n4": {CPUPerf: 1.5, MemoryPerf: 1, Provenance: ratios.Provenance{Source: "configmap"}},
	}}}))
	of := &shown{Baseline: "n2d", Suggestions: []production.Suggestion{
		{NodeType: "n4", Cluster: production.Interval{Ratio: 1.25, Low: 1.2, High: 1.3}, Next: production.Interval{Ratio: 1.25, Low: 1.1, High: 1.4}},
	}}
	registry := prometheus.NewRegistry()
	measured := &servertest.Measured{Known: &judge.View{Baseline: "n2d", Time: time.Now()}}
	suggesting := newContradictionCollector(of, measured, store)
	registry.MustRegister(suggesting)
	gathered := func() string {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, f := range families {
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					text += l.GetValue() + " "
				}
				text += fmt.Sprint(m.GetGauge().GetValue(), "; ")
			}
		}
		return text
	}
	if got := gathered(); got != "" {
		t.Errorf("without ratios: %s", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- store.Run(ctx) }()
	localcluster.Eventually(t, "ratios", func() error { _, err := store.Ready(); return err })
	if got := gathered(); got != "n2d configmap 0; n4 configmap 1; " {
		t.Errorf("got %s", got)
	}
	measured.Known = &judge.View{Baseline: "n2d", Time: time.Now(), Estimates: []estimate.Estimate{
		{NodeType: "c3", Ratio: 2, Interval: &estimate.Interval{Low: 1.9, High: 2.1}},
		{NodeType: "n4", Ratio: 1, Interval: &estimate.Interval{Low: 0.95, High: 1.05}},
	}}
	if got := gathered(); got != "n2d configmap 0; n4 configmap 1; " {
		t.Errorf("it estimates at each scrape: %s", got)
	}
	suggesting.view.Time = time.Now().Add(-time.Hour)
	if got := gathered(); got != "n2d configmap 0; n4 benchmark 1; n4 configmap 1; " {
		t.Errorf("with benchmarks that only suggest: %s", got)
	}
	measured.Known.Estimates[1].Interval.High = 1.15
	of.Suggestions[0].Next.High = 1.6
	if got := gathered(); got != "n2d configmap 0; n4 configmap 0; " {
		t.Errorf("within an interval: %s", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
