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
)

// ratioSources are the sources that there are, in the order of the default.
var ratioSources = []string{override.Source, configmap.Source, benchmark.Source}

// validRatioSources tells what is wrong with a choice of sources.
func validRatioSources(sources []string) error {
	if !slices.Contains(sources, configmap.Source) {
		return errors.New("must name " + configmap.Source + ", the only source that knows the baseline")
	}
	for i, source := range sources {
		if !slices.Contains(ratioSources, source) {
			return fmt.Errorf("%q is no source of ratios: there are %s", source, strings.Join(ratioSources, ", "))
		}
		if slices.Contains(sources[:i], source) {
			return fmt.Errorf("names %s twice", source)
		}
	}
	return nil
}

// sources are the ratios and where they come from.
type sources struct {
	store *ratios.Store
	// overrides and benchmarks are nil if they are not used.
	overrides  *override.Store
	benchmarks *benchmarks
}

// newSources makes those that the flags name. leads tells whether this replica
// moves measured ratios.
func newSources(o *options, client kubernetes.Interface, leads func() bool, onReject func(*corev1.ConfigMap, error)) sources {
	var s sources
	var providers []ratios.Provider
	var measured *benchmark.Provider
	for _, source := range o.ratioSources {
		switch source {
		case override.Source:
			opts := []override.Option{override.OnReject(onReject)}
			if o.dryRun {
				opts = append(opts, override.ReadOnly())
			}
			s.overrides = override.New(client, o.configNamespace, o.overridesName, opts...)
			providers = append(providers, s.overrides)
		case configmap.Source:
			providers = append(providers, configmap.New(client, o.configNamespace, o.configName, onReject))
		case benchmark.Source:
			measured = newBenchmarkSource(o, client, onReject)
			providers = append(providers, measured)
		}
	}
	s.store = ratios.NewStore(providers...)
	if measured != nil {
		s.benchmarks = newBenchmarks(o, client, measured, s.store, leads)
	}
	return s
}
