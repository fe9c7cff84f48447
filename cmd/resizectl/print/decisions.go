package print

import workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"

// Decision returns a decision as a word.
func Decision(d workloadresizerv1.Decision) string {
	switch d {
	case workloadresizerv1.Decision_DECISION_RESIZE:
		return "resize"
	case workloadresizerv1.Decision_DECISION_ALIGNED:
		return "aligned"
	case workloadresizerv1.Decision_DECISION_SKIP:
		return "skip"
	}
	// A newer server may have decisions that this version does not know.
	return d.String()
}

// Reason returns the code of a reason, with the server's message.
func Reason(reason *workloadresizerv1.PlanReason) string {
	if reason.GetMessage() == "" {
		return OneLine(reason.GetCode())
	}
	return OneLine(reason.GetCode() + ": " + reason.GetMessage())
}
