package plans

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// onePod is the pod that is explained.
type onePod struct {
	pod command.Pod
	// chosen is its name, if a workload or labels stand for it.
	chosen string
}

func newExplainCommand(out print.Output, server *connect.Connection) *cobra.Command {
	e := &onePod{}
	return objects.Page[*workloadresizerv1.Explanation]{
		Verb: objects.Verb{
			Use:   "explain POD | TYPE/NAME | -l LABELS",
			Short: "Explain step by step why a pod has its size, or will get a different one",
			Long: `Explain step by step why a pod has its size, or will get a different one. TYPE/NAME
stands for one of the pods of a workload, and --selector for one of the pods with these
labels.

The steps are

  - the node type of the pod's node, and the label that sets it
  - the rule and the ratio that apply, and where they come from
  - for each resource of each container, what its author wrote, and each step from there
    to its size
  - the reasons against a resize
  - the holds on the pod
  - what was done to the pod, and what happens next, with and without the holds
  - what the pods on its node share, or would share with demand.mode: apply
  - whether its node is overloaded, and whether the pod is evicted
  - what you can do about each reason

If you are not allowed to see the facts of a step, that step says so, and the
others are complete. -o json and -o yaml print all of them as in the API; "unknown" says
why any of them is missing. -o wide is the same as table.

With --watch, the explanation follows again whenever it has changed. ` + connect.PollHelp,
			Example: `  # Explain why a pod requests 800m
  resizectl explain web-6d4cf56db6-x2x7p -n shop

  # Explain one of the pods of a Deployment, again whenever something changes
  resizectl explain shop/deployment/web --watch`,
			Args:     cobra.ArbitraryArgs,
			Complete: connect.CompleteObjects(server),
			Flags: func(cmd *cobra.Command) {
				connect.AddNamespaceFlag(cmd, &e.pod.Namespace, "namespace of the pod")
				e.pod.AddSelectorFlag(cmd)
			},
			Steps: []command.Step{e.pod.Complete},
		},
		Fetch:     e.ask,
		Text:      printSteps,
		WatchFlag: "after the explanation, print it again whenever it has changed",
	}.Command(out, server)
}

// ask asks for the explanation. A workload, or labels, stand for the same pod until that is gone, as in a rollout.
func (e *onePod) ask(ctx context.Context, c *client.Client, to *print.Output) (*workloadresizerv1.Explanation, error) {
	request := &workloadresizerv1.ExplainPodRequest{Namespace: e.pod.Namespace, Pod: e.chosen}
	if e.chosen != "" {
		explanation, err := c.ExplainPod(ctx, request)
		if status.Code(err) != codes.NotFound {
			return explanation, err
		}
	}
	request.Pod, request.Workload, request.LabelSelector = e.pod.Name, e.pod.Workload(), e.pod.Labels
	if !e.pod.Named() {
		request.Pod = ""
	}
	explanation, err := c.ExplainPod(ctx, request)
	switch {
	case e.pod.Named():
		return explanation, err
	case client.Reason(err) == "POD_NOT_FOUND":
		return nil, errors.New(connect.MessageOf(err)) // It is no pod whose name could be wrong.
	case err != nil:
		return nil, err
	}
	e.chosen = explanation.GetPlan().GetPod()
	return explanation, connect.NoteOf(to.ErrOut, &e.pod, e.chosen, explanation.GetPods())
}

// printSteps prints the explanation, a numbered line per step.
func printSteps(o *print.Output, e *workloadresizerv1.Explanation) error {
	return o.Steps(append(Steps(o, e), print.Each(Remedies(o, e), func(r Remedy) string { return r.Text })...))
}

// Steps returns an explanation as a line per step, "Title: text". Those that say what to do are its Remedies.
func Steps(o *print.Output, e *workloadresizerv1.Explanation) []string {
	f, p := &facts{e, e.GetPlan()}, o.Painter()
	steps := []string{f.nodeStep(), f.ruleStep(), f.baselineStep(), f.ratioStep()}
	steps = append(steps, f.sourceSteps(p)...)
	steps = append(steps, f.factorStep())
	if demand := f.demandStep(); demand != "" {
		steps = append(steps, demand)
	}
	if share := f.shareStep(); share != "" {
		steps = append(steps, share)
	}
	steps = append(steps, print.Each(f.plan.GetContainers(), func(c *workloadresizerv1.ContainerPlan) string { return f.containerStep(p, c) })...)
	steps = append(steps, f.objectionsStep(), f.holdsStep(), f.doneStep(p), f.nowStep(p)+f.again())
	if resumed := f.resumedStep(p); resumed != "" {
		steps = append(steps, resumed)
	}
	if overload := f.GetOverload(); overload != "" {
		steps = append(steps, "Overload: "+print.OneLine(overload)+".")
	}
	if eviction := f.GetEviction(); eviction != "" {
		steps = append(steps, "Eviction: "+print.OneLine(eviction)+".")
	}
	return steps
}

func (f *facts) nodeStep() string {
	name := print.OneLine(f.plan.GetNamespace() + "/" + f.plan.GetPod())
	node, nodeType := print.OneLine(f.plan.GetNode()), print.OneLine(f.plan.GetNodeType())
	switch {
	case node == "":
		return fmt.Sprintf("Node: %s has no node yet.", name)
	case nodeType == "":
		return fmt.Sprintf("Node: %s runs on %s, whose type is unknown.", name, node)
	}
	return fmt.Sprintf("Node: %s runs on %s, which has type %s by its label %s.", name, node, nodeType, print.OneLine(f.plan.GetNodeTypeLabel()))
}

func (f *facts) ruleStep() string {
	if rule := f.plan.GetRule(); rule != "" {
		return fmt.Sprintf("Rule: %s applies to the pod.", print.OneLine(rule))
	}
	return "Rule: none matches the pod, so the configuration for all pods applies."
}

func (f *facts) baselineStep() string {
	if f.plan.GetBaselineNodeType() == "" {
		return "Baseline: the node type that its requests are written for is unknown."
	}
	return fmt.Sprintf("Baseline: its requests are written for %s.", print.OneLine(f.plan.GetBaselineNodeType()))
}

func (f *facts) ratioStep() string {
	nodeType := print.OneLine(f.plan.GetNodeType())
	switch {
	case f.unknown("ratio") != "":
		return "Ratio: its source is unknown: " + f.unknown("ratio")
	case nodeType == "":
		return "Ratio: there is none without a node type."
	case f.GetRatio() == nil:
		return fmt.Sprintf("Ratio: no source has one for %s.", nodeType)
	}
	text := fmt.Sprintf("Ratio: %s has cpu %s and memory %s, from %s.", nodeType, print.Perf(f.GetRatio().GetCpuPerf()), print.Perf(f.GetRatio().GetMemoryPerf()), print.Provenance(f.GetRatio().GetProvenance()))
	if end := f.GetRatio().GetExpireTime(); end != nil {
		text += " It expires at " + print.Timestamp(end) + "."
	}
	for i, other := range f.GetRatio().GetCandidates() {
		switch {
		case other.GetObserved():
			text += fmt.Sprintf(" Only shown, not in effect: cpu %s from %s.", print.Perf(other.GetCpuPerf()), print.Provenance(other.GetProvenance()))
		case i > 0:
			text += fmt.Sprintf(" It overrides cpu %s and memory %s from %s.", print.Perf(other.GetCpuPerf()), print.Perf(other.GetMemoryPerf()), print.Provenance(other.GetProvenance()))
		}
	}
	return text
}

// sourceSteps names the sources whose current state is not in effect: a change in them may be what
// the user misses.
func (f *facts) sourceSteps(p print.Painter) []string {
	var steps []string
	for _, source := range f.GetSources() {
		if !source.GetHealthy() {
			steps = append(steps, "Sources: "+p.Paint(print.Red, print.SourceProblem(source))+".")
		}
	}
	return steps
}

func (f *facts) factorStep() string {
	cpu, memory := f.plan.GetCpuFactor(), f.plan.GetMemoryFactor()
	if cpu == 0 && memory == 0 {
		return "Factor: there is none without a ratio."
	}
	if f.GetRatio() == nil || f.GetBaseline() == nil {
		return fmt.Sprintf("Factor: cpu %s, memory %s.", print.Factor(cpu), print.Factor(memory))
	}
	return fmt.Sprintf("Factor: baseline / node: cpu %s / %s = %s, memory %s / %s = %s.",
		print.Perf(f.GetBaseline().GetCpuPerf()), print.Perf(f.GetRatio().GetCpuPerf()), print.Factor(cpu),
		print.Perf(f.GetBaseline().GetMemoryPerf()), print.Perf(f.GetRatio().GetMemoryPerf()), print.Factor(memory))
}

func (f *facts) objectionsStep() string {
	told := print.Each(f.plan.GetReasons(), print.Reason)
	if len(told) == 0 {
		return "Reasons: none against a resize."
	}
	return "Reasons: " + strings.Join(told, "; ") + "."
}

// whyUnknown returns an error message as the end of a step; empty if there is none.
func whyUnknown(message string) string {
	if message == "" {
		return ""
	}
	return print.OneLine(message) + "."
}

// facts are an explanation. Its steps only display it.
type facts struct {
	*workloadresizerv1.Explanation
	plan *workloadresizerv1.Plan
}

// unknown returns why a part is not known, to complete a step; empty if it is.
func (f *facts) unknown(part string) string { return whyUnknown(f.GetUnknown()[part]) }

// because reports whether the plan has one of the reasons.
func (f *facts) because(codes ...string) bool {
	return slices.ContainsFunc(f.plan.GetReasons(), func(r *workloadresizerv1.PlanReason) bool { return slices.Contains(codes, r.GetCode()) })
}
