package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/configmap"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/ratios/production"
)

// ratioSources are all sources, in the default order of precedence.
var ratioSources = []string{override.Source, configmap.Source, benchmark.Source, production.Source}

// validRatioSources returns an error if a choice of sources is invalid.
func validRatioSources(sources []string) error {
	if !slices.Contains(sources, configmap.Source) {
		return errors.New("must include " + configmap.Source + ", the only source that knows the baseline")
	}
	for i, source := range sources {
		if !slices.Contains(ratioSources, source) {
			return fmt.Errorf("%q is not a source of ratios: use %s", source, strings.Join(ratioSources, ", "))
		}
		if slices.Contains(sources[:i], source) {
			return fmt.Errorf("names %s twice", source)
		}
	}
	return nil
}

// sources holds the store of ratios and the providers that have an API of their own.
type sources struct {
	store *ratios.Store
	// overrides, benchmarks and production are nil if --ratio-sources leaves them out.
	overrides  *override.Store
	benchmarks *benchmarks
	production *production.Judge
}

// newSources creates the sources that the flags name. leads reports whether this replica
// changes measured ratios, sizes returns those of the nodes, and compared is what usage says of their speed; nil without usage.
// onReject and onUnused are as for a configmap.Provider.
func newSources(o *options, client kubernetes.Interface, leads func() bool, sizes func() map[string]map[int]float64, compared production.Evidence, onReject, onUnused func(*corev1.ConfigMap, error)) sources {
	var s sources
	var providers []ratios.Provider
	var measured *benchmark.Provider
	var shown *production.Provider
	for _, source := range o.ratioSources {
		switch source {
		case override.Source:
			opts := []override.Option{override.OnReject(onReject)}
			if o.dryRun {
				opts = append(opts, override.ReadOnly())
			}
			s.overrides = override.New(client, o.configNamespace, o.names().Overrides, opts...)
			providers = append(providers, s.overrides)
		case configmap.Source:
			providers = append(providers, configmap.New(client, o.configNamespace, o.configName, onReject, onUnused))
		case benchmark.Source:
			measured = newBenchmarkSource(o, client, onReject)
			providers = append(providers, measured)
		case production.Source:
			shown = newProductionSource(o, client, onReject)
			providers = append(providers, shown)
		}
	}
	s.store = ratios.NewStore(providers...)
	if measured != nil {
		s.benchmarks = newBenchmarks(o, client, measured, s.store, leads, sizes)
	}
	if shown != nil {
		s.production = newProduction(shown, s.store, compared, leads, sizes)
	}
	return s
}
