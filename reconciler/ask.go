package reconciler

import (
	"context"
	"errors"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// ask has the API server look at a resize without carrying it out, and adds its
// answer to the plan.
func (a *actuator) ask(ctx context.Context, plan *Plan) {
	// Whatever the pod has become meanwhile: what is asked is about its sizes.
	pod, err := a.resize(ctx, plan, StepPreview, "")
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		plan.skip(&safety.Veto{Reason: refused.reason, Message: "the API server says: " + err.Error()})
	case err != nil:
		plan.skip(&safety.Veto{Reason: contract.ResizeFailed, Message: "the API server says: " + err.Error()})
	default:
		if added := plan.mutated(pod); added != "" {
			plan.skip(&safety.Veto{Reason: contract.LimitRangeViolation, Message: "the API server would change the resize: " + added})
		}
	}
}
