package clustertest

import (
	"context"
	"testing"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Published returns the published example: n4 is 1.25 times as fast as n2d. No pod waits for canaries,
// since the pods of most tests have the same controller, nor for its turn.
func Published() *ratios.Layer {
	return &ratios.Layer{
		Baseline: "n2d",
		Ratios:   map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}},
		Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 50, Max: 16000}}, Guard: policy.Guard{MaxUnproven: policy.AllPods}}),

		Cluster: keys.Some(policy.Cluster{}, "pace"),
	}
}

// WithN4 returns the table of the published example with a different ratio for n4.
func WithN4(t testing.TB, cpu float64) *ratios.Table {
	t.Helper()
	layer := Published()
	layer.Ratios["n4"] = ratios.Ratio{CPUPerf: cpu, MemoryPerf: 1}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Store returns a store with the table of a layer.
func Store(t testing.TB, layer *ratios.Layer) *ratios.Store {
	t.Helper()
	store := ratios.NewStore(ratiotest.NewMemory("configmap", ratios.Update{Layer: layer}))
	changed := store.Watch()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- store.Run(ctx) }()
	<-changed
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return store
}
