package actuate

import (
	"context"
	"errors"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Ask has the API server look at a resize without carrying it out, and adds its
// answer to the plan.
func (a *Actuator) Ask(ctx context.Context, p *plan.Plan) {
	// Whatever the pod has become meanwhile: what is asked is about its sizes.
	pod, err := a.resize(ctx, p, plan.StepPreview, "")
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		p.Skip(&safety.Veto{Reason: refused.Reason, Message: "the API server says: " + err.Error()})
	case err != nil:
		p.Skip(&safety.Veto{Reason: contract.ResizeFailed, Message: "the API server says: " + err.Error()})
	default:
		if added := p.Mutated(pod); added != "" {
			p.Skip(&safety.Veto{Reason: contract.LimitRangeViolation, Message: "the API server would change the resize: " + added})
		}
	}
}
