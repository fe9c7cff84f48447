package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/intake"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
)

// benchmarks is the source of measured ratios and the parts that work on it.
type benchmarks struct {
	*intake.Intake
	*judge.Judge
	source *benchmark.Provider
}

// newBenchmarkSource returns the source of measured ratios.
func newBenchmarkSource(o *options, client kubernetes.Interface, onReject func(*corev1.ConfigMap, error)) *benchmark.Provider {
	names := o.names()
	return benchmark.New(benchmark.Config{
		Client:        client,
		Namespace:     o.configNamespace,
		SettingsName:  names.Benchmarks,
		StateName:     names.BenchmarkRatios,
		SamplesPrefix: names.SamplesPrefix,
		ReadOnly:      o.dryRun,
		OnReject:      onReject,
	})
}

// newBenchmarks returns the parts that work on source, one of the store's providers. leads
// reports whether this replica changes measured ratios, and sizes returns those of the nodes.
func newBenchmarks(o *options, client kubernetes.Interface, source *benchmark.Provider, store *ratios.Store, leads func() bool, sizes func() map[string]map[int]float64) *benchmarks {
	return &benchmarks{
		source: source,
		Intake: intake.New(intake.Config{Provider: source, Ratios: store, Client: client, Namespace: o.configNamespace}),
		Judge:  judge.New(judge.Config{Provider: source, Ratios: store, Sizes: sizes, Leads: leads}),
	}
}

// Missing returns an error if samples or ratios cannot be stored because their ConfigMap
// does not exist.
func (b *benchmarks) Missing() error { return b.source.Missing() }

// Run runs everything except the source, which the store of ratios runs.
func (b *benchmarks) Run(ctx context.Context) error { return runAll(ctx, b.Intake.Run, b.Judge.Run) }
