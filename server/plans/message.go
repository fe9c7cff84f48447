package plans

import (
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/server/manifests"
	"github.com/workload-resizer/workload-resizer/server/values"
)

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
	return manifests.MessageWith(p, m.resources)
}

// resources returns a message whose content is already encoded, as unknown fields: protobuf
// passes unknown fields through.
func (m *planMessages) resources(c sizing.Container) *workloadresizerv1.Resources {
	if out, ok := m.sizes[c]; ok {
		return out
	}
	out := values.Resources(c)
	if encoded, err := proto.Marshal(out); err == nil && len(m.sizes) < mostSizes {
		out = &workloadresizerv1.Resources{}
		out.ProtoReflect().SetUnknown(encoded)
		m.sizes[c] = out
	}
	return out
}
