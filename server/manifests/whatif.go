package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// whatIfSource is the source of ratios from a request.
const whatIfSource = "what-if"

// demandModes are the modes that a request may assume.
var demandModes = map[workloadresizerv1.DemandMode]string{
	// Sizes are the same in both modes.
	workloadresizerv1.DemandMode_DEMAND_MODE_AUTHOR:  policy.Observe,
	workloadresizerv1.DemandMode_DEMAND_MODE_OBSERVE: policy.Observe,
	workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL: policy.Initial,
	workloadresizerv1.DemandMode_DEMAND_MODE_APPLY:   policy.Apply,
}

// Production has the ratios that production shows; a production.Judge implements it.
type Production interface {
	// Assume returns the ratios of the source in the end, if ratios followed what is suggested now, or did not.
	Assume(applies bool) (ratios.Assumed, error)
}

// WhatIf returns the table of a store with the assumptions of a request; nil if it is the table in
// effect. The node type of the request is ignored. Shown is nil without the source production.
func WhatIf(store *ratios.Store, shown Production, request *workloadresizerv1.WhatIf) (*ratios.Table, error) {
	table, err := whatIfRatios(store, shown, request)
	mode, assumes := demandModes[request.GetDemandMode()]
	if err != nil || !assumes {
		return table, err
	}
	if table == nil {
		if table, err = values.ReadyTable(store); err != nil {
			return nil, err
		}
	}
	return table.WithDemandMode(mode), nil
}

// whatIfRatios is WhatIf without the mode.
func whatIfRatios(store *ratios.Store, shown Production, request *workloadresizerv1.WhatIf) (*ratios.Table, error) {
	mode := request.GetProductionMode()
	if len(request.GetRatios()) == 0 && request.GetBaselineNodeType() == "" && request.GetBounds() == nil && mode == workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_UNSPECIFIED {
		return nil, nil
	}
	inForce, err := values.ReadyTable(store)
	if err != nil {
		return nil, err
	}
	layer, faults := whatIfLayer(request, inForce)
	if len(faults) > 0 {
		return nil, rpcerror.BadFields(faults)
	}
	assumed := []ratios.Assumed{{Layer: layer}}
	if mode != workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_UNSPECIFIED {
		if shown == nil {
			return nil, rpcerror.BadField("what_if.production_mode", "needs a server that uses the ratio source production: add it to --ratio-sources, or leave this out")
		}
		of, err := shown.Assume(mode == workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY)
		if err != nil {
			return nil, rpcerror.BadField("what_if.production_mode", "cannot be planned: "+err.Error())
		}
		assumed = append(assumed, of)
	}
	table, err := store.WhatIf(assumed...)
	if err != nil {
		return nil, rpcerror.BadField("what_if", "conflicts with the rules of the table: "+err.Error())
	}
	return table, nil
}

// CheckNodeType returns an error if the assumed node type has no ratio in the table, or else in the
// store if there is no table.
func CheckNodeType(store *ratios.Store, nodeType string, table *ratios.Table) error {
	if nodeType == "" {
		return nil
	}
	if table == nil {
		var err error
		if table, err = values.ReadyTable(store); err != nil {
			return err
		}
	}
	if !anyKnows(table, nodeType) {
		return rpcerror.BadField("what_if.node_type", unknownType(table, nodeType))
	}
	return nil
}

// anyKnows reports whether the node type has a ratio, globally or in a rule.
func anyKnows(table *ratios.Table, nodeType string) bool {
	return slices.ContainsFunc(table.Profiles(), func(p *ratios.Profile) bool { return p.Knows(nodeType) })
}

// mostNamed is how many node types an error names.
const mostNamed = 20

// unknownType returns the error for a node type that has no ratio: which ones have, and what to do.
func unknownType(table *ratios.Table, nodeType string) string {
	known := map[string]bool{}
	for _, p := range table.Profiles() {
		for _, name := range p.NodeTypes() {
			known[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(known))
	text := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%q has no ratio, but these have: %s; set one in what_if.ratios, or use a node type that ListRatios returns", nodeType, text)
}

// whatIfLayer reads the layer that takes precedence over all sources.
func whatIfLayer(request *workloadresizerv1.WhatIf, inForce *ratios.Table) (*ratios.Layer, []rpcerror.Violation) {
	layer := &ratios.Layer{Baseline: request.GetBaselineNodeType(), Ratios: map[string]ratios.Ratio{}}
	var faults []rpcerror.Violation
	for i, r := range request.GetRatios() {
		path := fmt.Sprintf("what_if.ratios[%d]", i)
		if _, twice := layer.Ratios[r.GetNodeType()]; twice {
			faults = append(faults, rpcerror.Violation{Field: path + ".node_type", Problem: fmt.Sprintf("%q is duplicated", r.GetNodeType())})
			continue
		}
		ratio, wrong := whatIfRatio(path, r, inForce)
		layer.Ratios[r.GetNodeType()] = ratio
		faults = append(faults, wrong...)
	}
	if _, given := layer.Ratios[layer.Baseline]; layer.Baseline != "" && !given && !inForce.Knows(layer.Baseline) {
		faults = append(faults, rpcerror.Violation{Field: "what_if.baseline_node_type", Problem: unknownType(inForce, layer.Baseline)})
	}
	if b := request.GetBounds(); b != nil {
		bounds := inForce.Bounds
		faults = append(faults, readRange(&bounds.CPU, "what_if.bounds.cpu", b.GetCpu(), sizing.ParseCPU, sizing.CPUText)...)
		faults = append(faults, readRange(&bounds.Memory, "what_if.bounds.memory", b.GetMemory(), sizing.ParseMemory, sizing.MemoryText)...)
		layer.Settings = keys.Some(policy.Settings{Bounds: bounds}, "bounds")
	}
	return layer, faults
}

// whatIfRatio reads one ratio. A performance that is absent stands for the value in effect.
func whatIfRatio(path string, r *workloadresizerv1.AssumedRatio, inForce *ratios.Table) (ratios.Ratio, []rpcerror.Violation) {
	var known ratios.Ratio
	if entry, ok := inForce.Lookup(r.GetNodeType()); ok {
		known = entry.Ratio
	}
	ratio := ratios.Ratio{Provenance: ratios.Provenance{Source: whatIfSource}}
	var faults []rpcerror.Violation
	for _, perf := range []struct {
		field string
		given *float64
		known float64
		into  *float64
	}{
		{"cpu_perf", r.CpuPerf, known.CPUPerf, &ratio.CPUPerf},
		{"memory_perf", r.MemoryPerf, known.MemoryPerf, &ratio.MemoryPerf},
	} {
		switch {
		case perf.given != nil:
			*perf.into = *perf.given
		case perf.known == 0:
			faults = append(faults, rpcerror.Violation{Field: path + "." + perf.field, Problem: fmt.Sprintf("must be set: node type %q has no ratio yet", r.GetNodeType())})
		default:
			*perf.into = perf.known
		}
	}
	return ratio, faults
}

// readRange reads the minimum and maximum that are set.
func readRange(into *sizing.Range, path string, r *workloadresizerv1.QuantityRange, parse func(string) (int64, error), text func(int64) string) []rpcerror.Violation {
	var faults []rpcerror.Violation
	for _, end := range []struct {
		field, text string
		into        *int64
	}{{"min", r.GetMin(), &into.Min}, {"max", r.GetMax(), &into.Max}} {
		if end.text == "" {
			continue
		}
		amount, err := parse(end.text)
		if err != nil {
			faults = append(faults, rpcerror.Violation{Field: path + "." + end.field, Problem: err.Error()})
			continue
		}
		*end.into = amount
	}
	if len(faults) == 0 && into.Max != 0 && into.Min > into.Max {
		faults = append(faults, rpcerror.Violation{Field: path, Problem: fmt.Sprintf("is an empty range: min %s is above max %s; set both, or \"0\" for no bound", text(into.Min), text(into.Max))})
	}
	return faults
}
