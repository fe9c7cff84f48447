package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/intake"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
)

// benchmarkOptions are the flags of the benchmark source.
type benchmarkOptions struct{ settingsName, ratiosName, samplesPrefix string }

func (o *benchmarkOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.settingsName, "benchmarks-name", "workload-resizer-benchmarks", "name of the ConfigMap with the benchmark settings, in the same namespace")
	flags.StringVar(&o.ratiosName, "benchmark-ratios-name", "workload-resizer-benchmark-ratios", "name of the ConfigMap with the ratios that follow benchmarks, in the same namespace")
	flags.StringVar(&o.samplesPrefix, "samples-prefix", "workload-resizer-samples-", fmt.Sprintf("prefix of the names of the ConfigMaps with benchmark samples, in the same namespace; numbers from 0 to %d follow", samples.Shards-1))
}

// namedConfigMap is a ConfigMap that a flag names.
type namedConfigMap struct{ flag, name string }

func (o *benchmarkOptions) configMaps() []namedConfigMap {
	return []namedConfigMap{{"benchmarks-name", o.settingsName}, {"benchmark-ratios-name", o.ratiosName}, {"samples-prefix", o.samplesPrefix + "0"}}
}

// benchmarks is the source of measured ratios and the parts that work on it.
type benchmarks struct {
	*intake.Intake
	*judge.Judge
	source *benchmark.Provider
}

// newBenchmarkSource returns the source of measured ratios.
func newBenchmarkSource(o *options, client kubernetes.Interface, onReject func(*corev1.ConfigMap, error)) *benchmark.Provider {
	return benchmark.New(benchmark.Config{
		Client:        client,
		Namespace:     o.configNamespace,
		SettingsName:  o.benchmarks.settingsName,
		StateName:     o.benchmarks.ratiosName,
		SamplesPrefix: o.benchmarks.samplesPrefix,
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
