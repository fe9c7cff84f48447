package resizes

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Partly tells that a pod was given only some of its sizes: it is said to be sized for a
// node type when nothing waits any more.
func Partly(resize *workloadresizerv1.Resize) bool { return resize.GetNodeType() == "" }

// sizedText is when a pod was sized.
func sizedText(resize *workloadresizerv1.Resize) string {
	if Partly(resize) {
		return "partly"
	}
	return print.Timestamp(resize.GetApplyTime())
}

// remarkParts tells how to find out why pods of a list are only partly sized.
func remarkParts(errOut io.Writer, resizes []*workloadresizerv1.Resize) error {
	var parts int64
	for _, resize := range resizes {
		if Partly(resize) {
			parts++
		}
	}
	if parts == 0 {
		return nil
	}
	_, err := fmt.Fprintf(errOut, "%s partly sized; \"resizectl explain POD\" tells why\n", are(parts))
	return err
}

// are is "1 pod is" or "2 pods are".
func are(pods int64) string {
	if pods == 1 {
		return "1 pod is"
	}
	return print.CountOf(pods, "pod") + " are"
}

// printPart says why a pod is only partly sized. Who may not see its plan is told that.
func printPart(ctx context.Context, c *client.Client, w io.Writer, resize *workloadresizerv1.Resize) error {
	plan, err := c.PreviewPod(ctx, resize.GetNamespace(), resize.GetPod())
	if err != nil {
		_, err = fmt.Fprintf(w, "partly sized, and why cannot be told: %s.\n", print.OneLine(connect.MessageOf(err)))
		return err
	}
	if _, err := fmt.Fprintf(w, "partly sized, and the rest %s\n", RestText(plan)); err != nil {
		return err
	}
	for _, reason := range restReasons(plan) {
		if _, err := fmt.Fprintln(w, print.Reason(reason)); err != nil {
			return err
		}
	}
	return nil
}

// restReasons are why a pod that is partly sized does not have the rest, by its plan now;
// none if that is about to be given.
func restReasons(plan *workloadresizerv1.Plan) []*workloadresizerv1.PlanReason {
	var why []*workloadresizerv1.PlanReason
	for _, reason := range plan.GetReasons() {
		if slices.Contains(LeavesAsIs, reason.GetCode()) {
			why = append(why, reason)
		}
	}
	if len(why) == 0 && plan.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP {
		return plan.GetReasons()
	}
	return why
}

// RestText is e.g. "is left alone for NodeCapacity".
func RestText(plan *workloadresizerv1.Plan) string {
	var codes []string
	for _, reason := range restReasons(plan) {
		codes = append(codes, print.OneLine(reason.GetCode()))
	}
	if len(codes) == 0 {
		return "follows"
	}
	return "is left alone for " + strings.Join(codes, ", ")
}

// LeavesAsIs are the reasons for which a resource may stay as it is, or go back to what
// it was, where its size is worked out. All other reasons to leave a pod alone are known
// before that.
var LeavesAsIs = []string{
	"ResizeInfeasible", "ResizeError", "ResizeInProgress", "ResizeDeferred",
	"QOSClassChange", "LimitRangeViolation", "NodePressure", "NodeCapacity", "QuotaExceeded",
	"ExternallyResized", "InvalidAnnotation", "RestartRequired", "MemoryLimitKept",
}
