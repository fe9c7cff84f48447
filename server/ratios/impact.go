package ratios

import (
	"context"

	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/util/sets"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/translate"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// maxVetoed is the maximum number of vetoed pods that an impact names.
const maxVetoed = 100

// Impact returns the impact of another table, limited to what the caller can see. It takes a
// slot while it works.
func (s *Service) Impact(ctx context.Context, table *ratios.Table, slots *limits.Slots) (*workloadresizerv1.Impact, error) {
	release, err := slots.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	impact, err := s.config.Impacts.Impact(ctx, table)
	switch {
	case ctx.Err() != nil:
		return nil, status.FromContextError(ctx.Err()).Err()
	case err != nil:
		return nil, translate.Error(err)
	}
	return impactMessage(impact, s.config.Viewer.View(ctx))
}

// impactMessage returns an impact without the namespaces that the caller cannot see.
func impactMessage(impact *query.Impact, view access.View) (*workloadresizerv1.Impact, error) {
	all, err := view.SeesAll()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(impact.Namespaces))
	for i, g := range impact.Namespaces {
		names[i] = g.Name
	}
	visible, err := view.Visible(names...)
	if err != nil {
		return nil, err
	}
	seen := sets.New(visible...)
	m := &workloadresizerv1.Impact{Total: impactGroup(impact.Total), Incomplete: !all}
	for _, g := range impact.NodeTypes {
		m.NodeTypes = append(m.NodeTypes, impactGroup(g))
	}
	for _, g := range impact.Namespaces {
		if seen.Has(g.Name) {
			m.Namespaces = append(m.Namespaces, impactGroup(g))
		}
	}
	for _, p := range impact.Vetoed {
		if seen.Has(p.Pod.Namespace) && len(m.Vetoed) < maxVetoed {
			m.Vetoed = append(m.Vetoed, vetoedPod(p))
		}
	}
	return m, nil
}

func vetoedPod(p *plan.Plan) *workloadresizerv1.VetoedPod {
	objection := p.Objection()
	return &workloadresizerv1.VetoedPod{
		Namespace: p.Pod.Namespace, Pod: p.Pod.Name, Node: p.Node,
		Code: string(objection.Code), Message: objection.Message,
	}
}

func impactGroup(g query.ImpactGroup) *workloadresizerv1.ImpactGroup {
	return &workloadresizerv1.ImpactGroup{Name: g.Name, Pods: int64(g.Pods), Vetoed: int64(g.Vetoed), ByUsage: int64(g.ByUsage), RequestDelta: values.Quantities(g.CPU, g.Memory)}
}
