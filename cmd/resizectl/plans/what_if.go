package plans

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// The names of flags that an InvalidAssumption can have, next to those of the bounds.
const (
	whatIfMode       = "what-if-mode"
	whatIfProduction = "what-if-production-mode"
	whatIfRatio      = "what-if-ratio"
)

// InvalidAssumption is the error for an assumption that is none.
type InvalidAssumption struct {
	// Flag is the name of its flag, without dashes, and Problem what is wrong with its value.
	Flag, Problem string
}

// Error implements error.
func (e *InvalidAssumption) Error() string { return e.Flag + " " + e.Problem }

func invalid(flag, format string, values ...any) error {
	return &InvalidAssumption{flag, fmt.Sprintf(format, values...)}
}

// WhatIf are the assumptions of a plan, in the words of users. Its zero value assumes nothing.
type WhatIf struct {
	// Ratios are NODE_TYPE=CPU[/MEMORY] each.
	Ratios             []string
	NodeType, Baseline string
	CPU, Memory        workloadresizerv1.QuantityRange
	Resumed            bool
	Mode               DemandMode
	Production         ProductionMode
}

// DemandMode is how usage determines the sizes of pods; empty for the mode in effect.
type DemandMode string

// demandModes are the modes of "demand" in the configuration.
var demandModes = map[DemandMode]workloadresizerv1.DemandMode{
	"observe": workloadresizerv1.DemandMode_DEMAND_MODE_OBSERVE,
	"initial": workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL,
	"apply":   workloadresizerv1.DemandMode_DEMAND_MODE_APPLY,
}

// Modes are the words of WhatIf.Mode.
var Modes = []string{"observe", "initial", "apply"}

// ProductionMode is how ratios from production are used; empty for the mode in effect.
type ProductionMode string

// productionModes are the modes of "production" in the configuration.
var productionModes = map[ProductionMode]workloadresizerv1.BenchmarkMode{
	"observe": workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE,
	"apply":   workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY,
}

// ProductionModes are the words of WhatIf.Production.
var ProductionModes = []string{"observe", "apply"}

func (w *WhatIf) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&w.Ratios, whatIfRatio, nil, "plan with this ratio, NODE_TYPE=CPU[/MEMORY], such as n4=1.08 or n4=1.08/1.0; can be repeated")
	flags.StringVar(&w.NodeType, "what-if-node-type", "", "plan as if all pods ran on nodes of this type")
	flags.StringVar(&w.Baseline, "what-if-baseline", "", "plan as if requests were written for this node type")
	flags.BoolVar(&w.Resumed, "what-if-resumed", false, "plan as if the cluster were not frozen, and no pod were paused or restored")
	flags.Var(command.OneOf(&w.Mode, "mode", Modes), whatIfMode, "plan as if the demand of all pods came from usage, with this mode: observe, initial or apply")
	flags.Var(command.OneOf(&w.Production, "mode", ProductionModes), whatIfProduction, "plan as if this were production.mode, with what production shows now: observe or apply")
	for _, bound := range w.bounds() {
		flags.StringVar(bound.value, bound.flag, "", bound.usage)
	}
}

// boundFlag is one end of a bound.
type boundFlag struct {
	flag, usage string
	value       *string
}

func (w *WhatIf) bounds() (flags []boundFlag) {
	for _, of := range []struct {
		name  string
		bound *workloadresizerv1.QuantityRange
	}{{"cpu", &w.CPU}, {"memory", &w.Memory}} {
		flags = append(flags,
			boundFlag{"what-if-min-" + of.name, "plan with this minimum " + of.name + " request per container; 0 means none", &of.bound.Min},
			boundFlag{"what-if-max-" + of.name, "plan with this maximum " + of.name + " request per container; 0 means none", &of.bound.Max})
	}
	return flags
}

// complete returns the assumptions in the API; nil if there are none.
func (w *WhatIf) complete(cmd *cobra.Command) (*workloadresizerv1.WhatIf, error) {
	names := []string{"what-if-node-type", "what-if-baseline"}
	for _, bound := range w.bounds() {
		names = append(names, bound.flag)
	}
	for _, name := range names {
		if err := command.CheckFlag(cmd, name, "to plan with what is in effect"); err != nil {
			return nil, err
		}
	}
	m, err := w.Message()
	if err != nil {
		return nil, command.UsageErrorf(cmd, "--%w", err)
	}
	return m, nil
}

// Message returns the assumptions in the API; nil if there are none. Its errors are InvalidAssumptions.
func (w *WhatIf) Message() (*workloadresizerv1.WhatIf, error) {
	m := &workloadresizerv1.WhatIf{NodeType: w.NodeType, BaselineNodeType: w.Baseline, WithoutHolds: w.Resumed, DemandMode: demandModes[w.Mode], ProductionMode: productionModes[w.Production]}
	if w.Mode != "" && m.GetDemandMode() == workloadresizerv1.DemandMode_DEMAND_MODE_UNSPECIFIED {
		return nil, invalid(whatIfMode, "%q must be one of %s", print.OneLine(string(w.Mode)), strings.Join(Modes, ", "))
	}
	if w.Production != "" && m.GetProductionMode() == workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_UNSPECIFIED {
		return nil, invalid(whatIfProduction, "%q must be one of %s", print.OneLine(string(w.Production)), strings.Join(ProductionModes, ", "))
	}
	for _, text := range w.Ratios {
		ratio, err := parseWhatIfRatio(text)
		if err != nil {
			return nil, invalid(whatIfRatio, "%q: %v", text, err)
		}
		m.Ratios = append(m.Ratios, ratio)
	}
	for _, bound := range w.bounds() {
		if *bound.value == "" {
			continue
		}
		size, err := sizing.Quantity(*bound.value)
		if err != nil {
			return nil, invalid(bound.flag, "%q is not a quantity, such as 50m or 64Mi", *bound.value)
		}
		if size.Sign() < 0 {
			return nil, invalid(bound.flag, "%q is negative: use 0 for no bound", *bound.value)
		}
	}
	if cpu, memory := given(&w.CPU), given(&w.Memory); cpu != nil || memory != nil {
		m.Bounds = &workloadresizerv1.Bounds{Cpu: cpu, Memory: memory}
	}
	if len(m.Ratios) == 0 && m.NodeType == "" && m.BaselineNodeType == "" && m.Bounds == nil && !m.WithoutHolds && w.Mode == "" && w.Production == "" {
		return nil, nil
	}
	return m, nil
}

// Command returns the arguments of "resizectl plan" for the assumptions.
func (w *WhatIf) Command() (arguments print.Command) {
	for _, ratio := range w.Ratios {
		arguments = append(arguments, "--"+whatIfRatio, ratio)
	}
	add := func(flag, value string) {
		if value != "" {
			arguments = append(arguments, "--"+flag, value)
		}
	}
	add("what-if-node-type", w.NodeType)
	add("what-if-baseline", w.Baseline)
	add(whatIfMode, string(w.Mode))
	add(whatIfProduction, string(w.Production))
	for _, bound := range w.bounds() {
		add(bound.flag, *bound.value)
	}
	if w.Resumed {
		arguments = append(arguments, "--what-if-resumed")
	}
	return arguments
}

// given returns a range of which an end is set; nil if none is.
func given(r *workloadresizerv1.QuantityRange) *workloadresizerv1.QuantityRange {
	if r.GetMin() == "" && r.GetMax() == "" {
		return nil
	}
	return r
}

// parseWhatIfRatio parses NODE_TYPE=CPU[/MEMORY]. A performance that is omitted stays
// unchanged.
func parseWhatIfRatio(text string) (*workloadresizerv1.AssumedRatio, error) {
	nodeType, perfs, ok := strings.Cut(text, "=")
	if !ok || nodeType == "" || perfs == "" {
		return nil, fmt.Errorf("must be NODE_TYPE=CPU[/MEMORY], such as n4=1.08 or n4=1.08/1.0")
	}
	ratio := &workloadresizerv1.AssumedRatio{NodeType: nodeType}
	cpu, memory, both := strings.Cut(perfs, "/")
	if cpu != "" {
		if err := parsePerf(cpu, &ratio.CpuPerf); err != nil {
			return nil, err
		}
	}
	if both {
		if err := parsePerf(memory, &ratio.MemoryPerf); err != nil {
			return nil, err
		}
	}
	return ratio, nil
}

func parsePerf(text string, to **float64) error {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || value <= 0 || math.IsInf(value, 0) || math.IsNaN(value) {
		return fmt.Errorf("a performance must be a finite number above 0, not %q", text)
	}
	*to = &value
	return nil
}
