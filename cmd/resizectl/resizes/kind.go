package resizes

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// container is what a row is about: a container of a pod that was sized. A pod without containers has a row, too.
type container struct {
	*workloadresizerv1.Resize
	*workloadresizerv1.ResizedContainer
}

func containersOf(resize *workloadresizerv1.Resize) []container {
	if len(resize.GetContainers()) == 0 {
		return []container{{Resize: resize}}
	}
	rows := make([]container, len(resize.GetContainers()))
	for i, c := range resize.GetContainers() {
		rows[i] = container{resize, c}
	}
	return rows
}

// kind describes resizes; withNamespace adds a column with the namespace.
func kind(o *print.Output, withNamespace bool) objects.Kind[*workloadresizerv1.Resize, container] {
	change := func(header string, of func(*workloadresizerv1.Resources) map[string]string, name string) objects.Column[container] {
		return objects.Cell(header, func(c container) any { return print.Change(of(c.GetOriginal())[name], of(c.GetSpec())[name]) })
	}
	demand := func(header, name string) objects.Column[container] {
		return objects.Cell(header, func(c container) any { return print.Demand(name, c.GetDemands()[name]) }).Wide().IfAny()
	}
	requests, limits := (*workloadresizerv1.Resources).GetRequests, (*workloadresizerv1.Resources).GetLimits
	columns := []objects.Column[container]{
		objects.Text("Pod", container.GetPod),
		objects.Text("Container", container.GetName),
		objects.Text("Type", container.GetNodeType),
		objects.Cell("State", func(c container) any { return State(c.GetState()) }).RoomFor("in-progress"),
		change("CPU", requests, "cpu"),
		change("Memory", requests, "memory"),
		objects.Cell("Age", func(c container) any { return sizedText(o, c.Resize) }),
		objects.Text("Node", container.GetNode).Wide(),
		objects.Text("Workload", func(c container) string { return workloadName(c.Resize) }).Wide(),
		change("CPU Limit", limits, "cpu").Wide(),
		change("Memory Limit", limits, "memory").Wide(),
		objects.Cell("Actual CPU", func(c container) any { return print.Asked(c.GetActual(), "cpu") }).Wide(),
		objects.Cell("Actual Memory", func(c container) any { return print.Asked(c.GetActual(), "memory") }).Wide(),
		objects.Text("Message", container.GetMessage).Wide(),
		demand("CPU Demand", "cpu"),
		demand("Memory Demand", "memory"),
	}
	if withNamespace {
		columns = slices.Insert(columns, 0, objects.Text("Namespace", container.GetNamespace))
	}
	return objects.Kind[*workloadresizerv1.Resize, container]{
		Name: func(r *workloadresizerv1.Resize) string { return print.PodName(r.GetPod()) },
		Rows: containersOf, Columns: columns,
	}
}

func workloadName(resize *workloadresizerv1.Resize) string {
	if resize.GetWorkload() == nil {
		return ""
	}
	return print.WorkloadName(resize.GetWorkload())
}

// Demands returns what the containers of a pod needed according to usage when it was sized, e.g. "app cpu 480m"; empty if
// all of its sizes follow from its originals.
func Demands(resize *workloadresizerv1.Resize) string {
	var told []string
	for _, container := range resize.GetContainers() {
		for _, name := range []string{"cpu", "memory"} {
			if amount := container.GetDemands()[name]; amount != "" {
				told = append(told, print.OneLine(container.GetName()+" "+name+" "+print.Demand(name, amount)))
			}
		}
	}
	return strings.Join(told, ", ")
}

// resizeState is a state as a word.
type resizeState struct {
	state workloadresizerv1.ResizeState
	name  string
	style print.Style
}

// resizeStates are the states in the order of the help.
var resizeStates = []resizeState{
	{workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "actuated", print.Plain},
	{workloadresizerv1.ResizeState_RESIZE_STATE_PENDING, "pending", print.Plain},
	{workloadresizerv1.ResizeState_RESIZE_STATE_IN_PROGRESS, "in-progress", print.Plain},
	{workloadresizerv1.ResizeState_RESIZE_STATE_DEFERRED, "deferred", print.Notable},
	{workloadresizerv1.ResizeState_RESIZE_STATE_INFEASIBLE, "infeasible", print.Red},
	{workloadresizerv1.ResizeState_RESIZE_STATE_FAILED, "failed", print.Red},
}

func stateNames() []string {
	return print.Each(resizeStates, func(s resizeState) string { return s.name })
}

// State returns the state of a resize on the node, as a word.
func State(state workloadresizerv1.ResizeState) print.Cell {
	for _, s := range resizeStates {
		if s.state == state {
			return print.Cell{Text: s.name, Style: s.style}
		}
	}
	// A newer server may know more states than this version.
	return print.Cell{Text: state.String()}
}

func addStateFlag(cmd *cobra.Command, states *[]string) {
	cmd.Flags().StringSliceVar(states, "state", nil, "only pods in these states, any of "+strings.Join(stateNames(), ", "))
	command.CompleteFlag(cmd, "state", cobra.FixedCompletions(stateNames(), cobra.ShellCompDirectiveNoFileComp))
}

func parseStates(cmd *cobra.Command, names []string) ([]workloadresizerv1.ResizeState, error) {
	var states []workloadresizerv1.ResizeState
next:
	for _, name := range names {
		for _, s := range resizeStates {
			if s.name == name {
				states = append(states, s.state)
				continue next
			}
		}
		return nil, command.UsageErrorf(cmd, "--state %q must be one of %s", name, strings.Join(stateNames(), ", "))
	}
	return states, nil
}

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
	return print.Texts(o.ErrOut, fmt.Sprintf("%s partly sized; %s shows why", print.AreOf(parts, "pod"), o.Commands(`"resizectl explain POD"`)))
}

// printPart prints why a pod is only partly sized, or why the reason is unknown.
func printPart(ctx context.Context, c *client.Client, w io.Writer, resize *workloadresizerv1.Resize) error {
	plan, err := c.PreviewPod(ctx, resize.GetNamespace(), resize.GetPod())
	if err != nil {
		return print.Texts(w, fmt.Sprintf("partly sized, for an unknown reason: %s.", print.OneLine(connect.MessageOf(err))))
	}
	return print.Texts(w, append([]string{"partly sized, and the rest " + RestText(plan)}, print.Each(restReasons(plan), print.Reason)...)...)
}

// restReasons returns why a partly sized pod does not have the rest of its sizes, by its
// current plan; none if the rest is about to be applied.
func restReasons(plan *workloadresizerv1.Plan) []*workloadresizerv1.PlanReason {
	var why []*workloadresizerv1.PlanReason
	for _, reason := range plan.GetReasons() {
		if stays(reason.GetCode()) {
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
	return strings.Join(print.Each(restReasons(plan), func(r *workloadresizerv1.PlanReason) string { return print.OneLine(r.GetCode()) }), ", ")
}

// stays reports whether a resource may stay as it is, or be reverted, because of a reason, although its size
// was computed. All other reasons to skip a pod are known before that.
func stays(code string) bool { return contract.Reason(code).Traits().Stays }
