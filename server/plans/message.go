package plans

import (
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// messageOf returns the message of a plan.
func messageOf(p *plan.Plan) *workloadresizerv1.Plan { return planWith(p, translate.Resources) }

// planMessages creates messages of plans that are only sent, not read. Most pods in a cluster
// have one of a few sizes. Each size is encoded only once, because encoding sizes would take
// most of the time of a long stream. It is for one goroutine.
type planMessages struct {
	sizes map[sizing.Container]*workloadresizerv1.Resources
}

// mostSizes is the maximum number of sizes that are cached.
const mostSizes = 10_000

func newPlanMessages() *planMessages {
	return &planMessages{sizes: map[sizing.Container]*workloadresizerv1.Resources{}}
}

func (m *planMessages) plan(p *plan.Plan) *workloadresizerv1.Plan {
	return planWith(p, m.resources)
}

// resources returns a message whose content is already encoded, as unknown fields: protobuf
// passes unknown fields through.
func (m *planMessages) resources(c sizing.Container) *workloadresizerv1.Resources {
	if out, ok := m.sizes[c]; ok {
		return out
	}
	out := translate.Resources(c)
	if encoded, err := proto.Marshal(out); err == nil && len(m.sizes) < mostSizes {
		out = &workloadresizerv1.Resources{}
		out.ProtoReflect().SetUnknown(encoded)
		m.sizes[c] = out
	}
	return out
}

func planWith(p *plan.Plan, resources func(sizing.Container) *workloadresizerv1.Resources) *workloadresizerv1.Plan {
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
		Decision:         translate.Decision(p.Decision),
		Reasons:          make([]*workloadresizerv1.PlanReason, len(p.Reasons)),
		Containers:       make([]*workloadresizerv1.ContainerPlan, len(p.Containers)),
		QosClass:         string(p.QOSClass),
	}
	for i, r := range p.Reasons {
		out.Reasons[i] = &workloadresizerv1.PlanReason{Code: string(r.Code), Message: r.Message}
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		out.Containers[i] = &workloadresizerv1.ContainerPlan{
			Name: c.Name, Sidecar: c.Sidecar, Original: resources(c.Original), Current: resources(c.Current), Desired: resources(c.Desired),
		}
	}
	return out
}

// factor returns a factor; nil if the node type has no ratio.
func factor(q sizing.Factor) *float64 {
	if q.Den == 0 {
		return nil
	}
	return new(q.Float64())
}
