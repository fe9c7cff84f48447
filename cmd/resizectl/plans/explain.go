package plans

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type explainOptions struct {
	print.Output
	pod    command.Pod
	server *connect.Connection
	watch  bool
	// chosen is the pod that is explained.
	chosen string
}

func newExplainCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &explainOptions{Output: out, server: server}
	cmd := &cobra.Command{
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
  - what you can do about each reason

If you are not allowed to see the facts of a step, that step says so, and the
others are complete. -o json and -o yaml print all of them as in the API; "unknown" says
why any of them is missing. -o wide is the same as table.

With --watch, the explanation follows again whenever it has changed. ` + connect.PollHelp,
		Example: `  # Explain why a pod requests 800m
  resizectl explain web-6d4cf56db6-x2x7p -n shop

  # Explain one of the pods of a Deployment, again whenever something changes
  resizectl explain shop/deployment/web --watch`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: connect.CompleteObjects(server),
		RunE:              command.Steps(o.run, o.pod.Complete),
	}
	connect.AddNamespaceFlag(cmd, &o.pod.Namespace, "namespace of the pod")
	o.pod.AddSelectorFlag(cmd)
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "after the explanation, print it again whenever it has changed")
	command.AddOutputFlag(cmd, &o.Format)
	return cmd
}

func (o *explainOptions) run(ctx context.Context) error {
	if o.watch {
		return o.server.Repeat(ctx, &o.Output, o.show)
	}
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error { return o.show(ctx, c, &o.Output) })
}

// show explains the pod on an output.
func (o *explainOptions) show(ctx context.Context, c *client.Client, to *print.Output) error {
	explanation, err := o.ask(ctx, c)
	if err != nil {
		return err
	}
	if to.Format.IsDocument() {
		return to.Document(explanation)
	}
	return printSteps(to, factsOf(explanation))
}

// ask asks for the explanation. A workload, or labels, stand for the same pod until that is gone, as in a rollout.
func (o *explainOptions) ask(ctx context.Context, c *client.Client) (*workloadresizerv1.Explanation, error) {
	request := &workloadresizerv1.ExplainPodRequest{Namespace: o.pod.Namespace, Pod: o.chosen}
	if o.chosen != "" {
		explanation, err := c.ExplainPod(ctx, request)
		if status.Code(err) != codes.NotFound {
			return explanation, err
		}
	}
	request.Pod, request.Workload, request.LabelSelector = o.pod.Name, o.pod.Workload(), o.pod.Labels
	if !o.pod.Named() {
		request.Pod = ""
	}
	explanation, err := c.ExplainPod(ctx, request)
	switch {
	case o.pod.Named():
		return explanation, err
	case client.Reason(err) == "POD_NOT_FOUND":
		return nil, errors.New(connect.MessageOf(err)) // It is no pod whose name could be wrong.
	case err != nil:
		return nil, err
	}
	o.chosen = explanation.GetPlan().GetPod()
	return explanation, connect.NoteOf(o.ErrOut, &o.pod, o.chosen, explanation.GetPods())
}
