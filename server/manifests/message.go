package manifests

import (
	"fmt"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// Message returns the message of a plan.
func Message(p *plan.Plan) *workloadresizerv1.Plan { return MessageWith(p, values.Resources) }

// MessageWith is like Message, with the messages of sizes that resources returns.
func MessageWith(p *plan.Plan, resources func(sizing.Container) *workloadresizerv1.Resources) *workloadresizerv1.Plan {
	out := &workloadresizerv1.Plan{
		Namespace:        p.Pod.Namespace,
		Pod:              p.Pod.Name,
		Uid:              string(p.UID),
		Node:             p.Node,
		NodeType:         p.NodeType,
		NodeTypeLabel:    p.NodeTypeLabel,
		Rule:             p.Rule,
		BaselineNodeType: p.Baseline,
		RatioRevision:    p.Revision,
		CpuFactor:        factor(p.CPUFactor),
		MemoryFactor:     factor(p.MemoryFactor),
		Decision:         values.Decision(p.Decision),
		Reasons:          make([]*workloadresizerv1.PlanReason, len(p.Reasons)),
		Containers:       make([]*workloadresizerv1.ContainerPlan, len(p.Containers)),
		QosClass:         string(p.QOSClass),
		Eviction:         p.Eviction,
	}
	for i, r := range p.Reasons {
		out.Reasons[i] = &workloadresizerv1.PlanReason{Code: string(r.Code), Message: r.Message}
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		out.Containers[i] = &workloadresizerv1.ContainerPlan{
			Name: c.Name, Sidecar: c.Sidecar, Original: resources(c.Original), Current: resources(c.Current), Desired: resources(c.Desired),
		}
		if p.FollowsUsage || p.Ignores(i, sizing.CPU) != "" || p.Ignores(i, sizing.Memory) != "" {
			out.Containers[i].Demands = demands(p, i)
		}
	}
	return out
}

// demands returns what the resources of a container need, by name.
func demands(p *plan.Plan, container int) map[string]*workloadresizerv1.ResourceDemand {
	all := map[string]*workloadresizerv1.ResourceDemand{}
	for _, m := range sizing.Measures {
		amount, lower, upper := p.Demand(container, m)
		if amount == 0 {
			continue
		}
		d := &workloadresizerv1.ResourceDemand{
			Source: workloadresizerv1.DemandSource_DEMAND_SOURCE_AUTHOR, Request: m.Text(amount), Message: p.Ignores(container, m),
		}
		if r := p.Containers[container].Needs[m.Index].Recommended; r != nil {
			d.Source, d.Revision = workloadresizerv1.DemandSource_DEMAND_SOURCE_USAGE, fmt.Sprintf("%016x", r.Revision)
			d.Lower, d.Upper, d.Shared = m.Text(lower), m.Text(upper), shared(p, container, m)
		} else if p.Kept(container, m) != 0 {
			d.Source = workloadresizerv1.DemandSource_DEMAND_SOURCE_USAGE
		}
		all[m.Name] = d
	}
	return all
}

// shared returns the parts of a demand that is shared; nil if it is not.
func shared(p *plan.Plan, container int, m *sizing.Measure) *workloadresizerv1.SharedDemand {
	if of, shares := p.Shared(container, m); shares {
		return values.Shared(m, of)
	}
	return nil
}

// factor returns a factor; nil if the node type has no ratio.
func factor(q sizing.Factor) *float64 {
	if q.Den == 0 {
		return nil
	}
	return new(q.Float64())
}
