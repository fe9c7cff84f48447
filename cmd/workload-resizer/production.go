package main

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/production"
)

// newProductionSource returns the source of ratios that production shows.
func newProductionSource(o *options, client kubernetes.Interface, onReject func(*corev1.ConfigMap, error)) *production.Provider {
	return production.New(production.Config{
		Client:    client,
		Namespace: o.configNamespace,
		Name:      o.names().ProductionRatios,
		ReadOnly:  o.dryRun,
		Clock:     decisionClock,
		OnReject:  onReject,
	})
}

// newProduction returns what changes the ratios of source, one of the store's providers, by what compared knows. leads reports
// whether this replica changes measured ratios, and sizes returns those of the nodes.
func newProduction(source *production.Provider, store *ratios.Store, compared production.Evidence, leads func() bool, sizes func() map[string]map[int]float64) *production.Judge {
	return production.NewJudge(production.JudgeConfig{
		Provider:  source,
		Ratios:    store,
		Evidence:  compared,
		NodeTypes: func() []string { return slices.Sorted(maps.Keys(sizes())) },
		Applies: func() bool {
			table := store.Table()
			return table != nil && table.Production.Applies()
		},
		Leads: leads,
		Clock: decisionClock,
	})
}
