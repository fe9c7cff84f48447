package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/configmap"
	"github.com/workload-resizer/workload-resizer/ratios/override"
)

// ratioSources are the sources that there are, in the order of the default.
var ratioSources = []string{override.Source, configmap.Source}

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

// newRatios returns the store of the ratios, and the source of it that can be
// written, nil if that is not used.
func newRatios(o *options, client kubernetes.Interface, onReject func(*corev1.ConfigMap, error)) (*ratios.Store, *override.Store) {
	var overrides *override.Store
	var providers []ratios.Provider
	for _, source := range o.ratioSources {
		switch source {
		case override.Source:
			opts := []override.Option{override.OnReject(onReject)}
			if o.dryRun {
				opts = append(opts, override.ReadOnly())
			}
			overrides = override.New(client, o.configNamespace, o.overridesName, opts...)
			providers = append(providers, overrides)
		case configmap.Source:
			providers = append(providers, configmap.New(client, o.configNamespace, o.configName, onReject))
		}
	}
	return ratios.NewStore(providers...), overrides
}
