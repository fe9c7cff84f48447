package main

import (
	"slices"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// partly tells that a pod was given only some of its sizes: it is said to be sized for a
// node type when nothing waits any more.
func partly(resize *workloadresizerv1.Resize) bool { return resize.GetNodeType() == "" }

// restReasons are why a pod that is partly sized does not have the rest, by its plan now;
// none if that is about to be given.
func restReasons(plan *workloadresizerv1.Plan) []*workloadresizerv1.PlanReason {
	var why []*workloadresizerv1.PlanReason
	for _, reason := range plan.GetReasons() {
		if slices.Contains(leavesAsIs, reason.GetCode()) {
			why = append(why, reason)
		}
	}
	if len(why) == 0 && plan.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP {
		return plan.GetReasons()
	}
	return why
}

// restText is e.g. "is left alone for NodeCapacity".
func restText(plan *workloadresizerv1.Plan) string {
	var codes []string
	for _, reason := range restReasons(plan) {
		codes = append(codes, oneLine(reason.GetCode()))
	}
	if len(codes) == 0 {
		return "follows"
	}
	return "is left alone for " + strings.Join(codes, ", ")
}
