package actuate

import (
	"context"
	"errors"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Ask sends a resize to the API server as a dry run, and adds the API server's answer to
// the plan.
func (a *Actuator) Ask(ctx context.Context, p *plan.Plan) {
	// Without a resource version: a preview is about the sizes, even if the pod has changed.
	pod, err := a.resize(ctx, p, plan.Write{Step: plan.StepPreview}, "")
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		p.Skip(&safety.Veto{Reason: refused.Reason, Message: "dry run on the API server: " + err.Error()})
	case err != nil:
		p.Skip(&safety.Veto{Reason: contract.ResizeFailed, Message: "dry run on the API server: " + err.Error()})
	default:
		if changed := p.Changed(pod); changed != "" {
			p.Skip(&safety.Veto{Reason: contract.ResizeFailed, Message: "dry run on the API server: " + (&MutatedError{changed}).Error()})
		} else if added := p.Mutated(pod); added != "" {
			p.Skip(&safety.Veto{Reason: contract.LimitRangeViolation, Message: "the API server would change the resize: " + added})
		}
	}
}
