package actuate

import (
	"context"
	"errors"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Ask sends a resize to the API server as a dry run. It returns the plan, or one that skips the pod if the API server
// would refuse or change the resize.
func (a *Actuator) Ask(ctx context.Context, p *plan.Plan) *plan.Plan {
	// Without a resource version: a preview is about the sizes, even if the pod has changed.
	pod, err := a.resize(ctx, p, p.Preview(), "")
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		return p.Skipped(plan.Reason{Code: refused.Reason, Message: "dry run on the API server: " + err.Error()})
	case err != nil:
		return p.Skipped(plan.Reason{Code: contract.ResizeFailed, Message: "dry run on the API server: " + err.Error()})
	default:
		if changed := p.Changed(pod); changed != "" {
			return p.Skipped(plan.Reason{Code: contract.ResizeFailed, Message: "dry run on the API server: " + (&MutatedError{changed}).Error()})
		} else if added := p.Mutated(pod); added != "" {
			return p.Skipped(plan.Reason{Code: contract.LimitRangeViolation, Message: "the API server would change the resize: " + added})
		}
	}
	return p
}
