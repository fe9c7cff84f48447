package plans

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// whatIfMode is the name of the flag of the mode.
const whatIfMode = "what-if-mode"

// whatIf holds the assumptions of a plan.
type whatIf struct {
	ratios               []string
	nodeType, baseline   string
	minCPU, maxCPU       string
	minMemory, maxMemory string
	resumed              bool
	mode                 demandMode
}

// demandMode is how usage determines the sizes of pods; empty for the mode in effect.
type demandMode string

// demandModes are the modes of "demand" in the configuration.
var demandModes = map[demandMode]workloadresizerv1.DemandMode{
	"observe": workloadresizerv1.DemandMode_DEMAND_MODE_OBSERVE,
	"initial": workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL,
	"apply":   workloadresizerv1.DemandMode_DEMAND_MODE_APPLY,
}

func (w *whatIf) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&w.ratios, "what-if-ratio", nil, "plan with this ratio, NODE_TYPE=CPU[/MEMORY], such as n4=1.08 or n4=1.08/1.0; can be repeated")
	flags.StringVar(&w.nodeType, "what-if-node-type", "", "plan as if all pods ran on nodes of this type")
	flags.StringVar(&w.baseline, "what-if-baseline", "", "plan as if requests were written for this node type")
	flags.BoolVar(&w.resumed, "what-if-resumed", false, "plan as if the cluster were not frozen, and no pod were paused or restored")
	flags.Var(command.OneOf(&w.mode, "mode", []string{"observe", "initial", "apply"}), whatIfMode, "plan as if the demand of all pods came from usage, with this mode: observe, initial or apply")
	for _, bound := range w.bounds() {
		flags.StringVar(bound.value, bound.flag, "", bound.usage)
	}
}

// boundFlag is one end of a bound.
type boundFlag struct {
	flag, usage string
	value       *string
}

func (w *whatIf) bounds() []boundFlag {
	return []boundFlag{
		{"what-if-min-cpu", "plan with this minimum cpu request per container; 0 means none", &w.minCPU},
		{"what-if-max-cpu", "plan with this maximum cpu request per container; 0 means none", &w.maxCPU},
		{"what-if-min-memory", "plan with this minimum memory request per container; 0 means none", &w.minMemory},
		{"what-if-max-memory", "plan with this maximum memory request per container; 0 means none", &w.maxMemory},
	}
}

// message returns the assumptions in the API; nil if there are none.
func (w *whatIf) message(cmd *cobra.Command) (*workloadresizerv1.WhatIf, error) {
	m := &workloadresizerv1.WhatIf{NodeType: w.nodeType, BaselineNodeType: w.baseline, WithoutHolds: w.resumed, DemandMode: demandModes[w.mode]}
	for _, text := range w.ratios {
		ratio, err := parseWhatIfRatio(text)
		if err != nil {
			return nil, command.UsageErrorf(cmd, "--what-if-ratio %q: %w", text, err)
		}
		m.Ratios = append(m.Ratios, ratio)
	}
	for _, bound := range w.bounds() {
		if *bound.value == "" {
			continue
		}
		size, err := resource.ParseQuantity(*bound.value)
		if err != nil {
			return nil, command.UsageErrorf(cmd, "--%s %q is not a quantity, such as 50m or 64Mi", bound.flag, *bound.value)
		}
		if size.Sign() < 0 {
			return nil, command.UsageErrorf(cmd, "--%s %q is negative: use 0 for no bound", bound.flag, *bound.value)
		}
	}
	cpu, memory := rangeOf(w.minCPU, w.maxCPU), rangeOf(w.minMemory, w.maxMemory)
	if cpu != nil || memory != nil {
		m.Bounds = &workloadresizerv1.Bounds{Cpu: cpu, Memory: memory}
	}
	if len(m.Ratios) == 0 && m.NodeType == "" && m.BaselineNodeType == "" && m.Bounds == nil && !m.WithoutHolds && w.mode == "" {
		return nil, nil
	}
	return m, nil
}

func rangeOf(least, most string) *workloadresizerv1.QuantityRange {
	if least == "" && most == "" {
		return nil
	}
	return &workloadresizerv1.QuantityRange{Min: least, Max: most}
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
