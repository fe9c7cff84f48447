package plans

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// selection selects the pods to plan: those that match all of its fields.
type selection struct {
	namespace     string
	allNamespaces bool
	pod           string
	workload      *workloadresizerv1.Workload
	labels        string
	node          string
	// nodeTypes has at most one element, except for a manifest.
	nodeTypes []string
}

func (s *selection) addSelectionFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	connect.AddNamespaceFlag(cmd, &s.namespace, "namespace of the pods; for a manifest, of objects that name none")
	flags.BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "show the pods in every namespace, regardless of --namespace")
	flags.StringVarP(&s.labels, "selector", "l", "", "only pods with these labels, such as app=web,tier!=cache")
	flags.StringVar(&s.node, "node", "", "only pods on this node")
	flags.StringSliceVar(&s.nodeTypes, "node-type", nil, "only pods on nodes of this type; for a manifest, the node types to plan for (default: all)")
}

// complete parses the arguments. It rejects in particular empty names, which a script passes
// if a variable is not set: to the server, an empty namespace is the whole cluster.
func (s *selection) complete(cmd *cobra.Command, args []string) error {
	if err := command.CheckNamespace(cmd, s.namespace, "use --all-namespaces for every namespace"); err != nil {
		return err
	}
	if err := command.CheckSelector(cmd, s.labels); err != nil {
		return err
	}
	for _, name := range []string{"selector", "node", "node-type"} {
		if err := command.CheckFlag(cmd, name, "for all pods"); err != nil {
			return err
		}
	}
	if slices.Contains(s.nodeTypes, "") {
		return command.UsageErrorf(cmd, "--node-type %q has an empty name: separate the names by one comma each", strings.Join(s.nodeTypes, ","))
	}
	named, err := command.ParseObject(cmd, args)
	if err != nil {
		return err
	}
	if named.Name != "" && s.allNamespaces {
		return command.UsageErrorf(cmd, "a %s is in one namespace: name it with --namespace instead of --all-namespaces", print.Type(named.Kind))
	}
	s.pod, s.workload = named.Pod(), named.Workload()
	s.namespace, err = named.In(cmd, s.namespace)
	return err
}

// validate rejects selections of one pod, or none, in a roundabout way.
func (s *selection) validate(cmd *cobra.Command) error {
	switch {
	case s.pod != "" && (s.labels != "" || s.node != "" || len(s.nodeTypes) > 0):
		return command.UsageErrorf(cmd, "--selector, --node and --node-type cannot be combined with the name of a pod")
	case len(s.nodeTypes) > 1:
		return command.UsageErrorf(cmd, "--node-type accepts several types only for a manifest (-f); name one")
	}
	return nil
}

// request returns the request for the plans of all these pods.
func (s *selection) request() *workloadresizerv1.PreviewPlansRequest {
	request := &workloadresizerv1.PreviewPlansRequest{
		Namespace: s.namespace, Workload: s.workload, LabelSelector: s.labels, Node: s.node,
	}
	if s.allNamespaces {
		request.Namespace = ""
	}
	if len(s.nodeTypes) > 0 {
		request.NodeType = s.nodeTypes[0]
	}
	return request
}

// where describes the selection, for the end of a sentence; empty for every pod.
func (s *selection) where() string {
	var told []string
	if !s.allNamespaces {
		told = append(told, "in namespace "+s.namespace)
	}
	if s.pod != "" {
		told = append(told, "by the name "+s.pod)
	}
	if s.workload != nil {
		told = append(told, "of "+print.WorkloadName(s.workload))
	}
	if s.labels != "" {
		told = append(told, "with labels "+s.labels)
	}
	if s.node != "" {
		told = append(told, "on node "+s.node)
	}
	if len(s.nodeTypes) > 0 {
		told = append(told, "on nodes of type "+s.nodeTypes[0])
	}
	return strings.Join(told, " ")
}

// whatIfMode is the name of the flag of the mode.
const whatIfMode = "what-if-mode"

// whatIf holds the assumptions of a plan.
type whatIf struct {
	ratios             []string
	nodeType, baseline string
	cpu, memory        workloadresizerv1.QuantityRange
	resumed            bool
	mode               demandMode
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

func (w *whatIf) bounds() (flags []boundFlag) {
	for _, of := range []struct {
		name  string
		bound *workloadresizerv1.QuantityRange
	}{{"cpu", &w.cpu}, {"memory", &w.memory}} {
		flags = append(flags,
			boundFlag{"what-if-min-" + of.name, "plan with this minimum " + of.name + " request per container; 0 means none", &of.bound.Min},
			boundFlag{"what-if-max-" + of.name, "plan with this maximum " + of.name + " request per container; 0 means none", &of.bound.Max})
	}
	return flags
}

// message returns the assumptions in the API; nil if there are none.
func (w *whatIf) message(cmd *cobra.Command) (*workloadresizerv1.WhatIf, error) {
	m := &workloadresizerv1.WhatIf{NodeType: w.nodeType, BaselineNodeType: w.baseline, WithoutHolds: w.resumed, DemandMode: demandModes[w.mode]}
	names := []string{"what-if-node-type", "what-if-baseline"}
	for _, bound := range w.bounds() {
		names = append(names, bound.flag)
	}
	for _, name := range names {
		if err := command.CheckFlag(cmd, name, "to plan with what is in effect"); err != nil {
			return nil, err
		}
	}
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
	if cpu, memory := given(&w.cpu), given(&w.memory); cpu != nil || memory != nil {
		m.Bounds = &workloadresizerv1.Bounds{Cpu: cpu, Memory: memory}
	}
	if len(m.Ratios) == 0 && m.NodeType == "" && m.BaselineNodeType == "" && m.Bounds == nil && !m.WithoutHolds && w.mode == "" {
		return nil, nil
	}
	return m, nil
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
