package plans

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func verdict(plan *workloadresizerv1.Plan) string {
	switch plan.GetDecision() {
	case workloadresizerv1.Decision_DECISION_RESIZE:
		return "would be resized"
	case workloadresizerv1.Decision_DECISION_ALIGNED:
		return "is aligned"
	case workloadresizerv1.Decision_DECISION_SKIP:
		return "is skipped"
	}
	return plan.GetDecision().String()
}
