package resizes

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Partly reports whether only some of a pod's sizes were applied: the server reports a node
// type only when none is left to apply.
func Partly(resize *workloadresizerv1.Resize) bool { return resize.GetNodeType() == "" }

// sizedText returns how long ago a pod was sized.
func sizedText(o *print.Output, resize *workloadresizerv1.Resize) string {
	if Partly(resize) {
		return "partly"
	}
	return o.Age(resize.GetApplyTime())
}

// remarkParts prints how to find out why pods of a list are only partly sized.
func remarkParts(o *print.Output, resizes []*workloadresizerv1.Resize) error {
	var parts int64
	for _, resize := range resizes {
		if Partly(resize) {
			parts++
		}
	}
	if parts == 0 {
		return nil
	}
	_, err := fmt.Fprintf(o.ErrOut, "%s partly sized; %s shows why\n", are(parts), o.Commands(`"resizectl explain POD"`))
	return err
}

// are returns "1 pod is" or e.g. "2 pods are".
func are(pods int64) string {
	if pods == 1 {
		return "1 pod is"
	}
	return print.CountOf(pods, "pod") + " are"
}

// printPart prints why a pod is only partly sized, or why the reason is unknown.
func printPart(ctx context.Context, c *client.Client, w io.Writer, resize *workloadresizerv1.Resize) error {
	plan, err := c.PreviewPod(ctx, resize.GetNamespace(), resize.GetPod())
	if err != nil {
		_, err = fmt.Fprintf(w, "partly sized, for an unknown reason: %s.\n", print.OneLine(connect.MessageOf(err)))
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

// restReasons returns why a partly sized pod does not have the rest of its sizes, by its
// current plan; none if the rest is about to be applied.
func restReasons(plan *workloadresizerv1.Plan) []*workloadresizerv1.PlanReason {
	var why []*workloadresizerv1.PlanReason
	for _, reason := range plan.GetReasons() {
		if Stays(reason.GetCode()) {
			why = append(why, reason)
		}
	}
	if len(why) == 0 && plan.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP {
		return plan.GetReasons()
	}
	return why
}

// RestText returns e.g. "is skipped: NodeCapacity".
func RestText(plan *workloadresizerv1.Plan) string {
	if why := WhyStays(plan); why != "" {
		return "is skipped: " + why
	}
	return "follows"
}

// WhyStays returns the reasons why a pod does not have all of its desired size, e.g. "Reverted, NodeCapacity";
// empty if there are none.
func WhyStays(plan *workloadresizerv1.Plan) string {
	var codes []string
	for _, reason := range restReasons(plan) {
		codes = append(codes, print.OneLine(reason.GetCode()))
	}
	return strings.Join(codes, ", ")
}

// Stays reports whether a resource may stay as it is, or be reverted, because of a reason, although its size
// was computed. All other reasons to skip a pod are known before that.
func Stays(code string) bool { return contract.Reason(code).Traits().Stays }
