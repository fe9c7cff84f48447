package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type planOptions struct {
	genericiooptions.IOStreams
	server        *connection
	output        format
	namespace     string
	allNamespaces bool
	serverSide    bool
	pods          []string
}

func newPlanCommand(streams genericiooptions.IOStreams, server *connection) *cobra.Command {
	o := &planOptions{IOStreams: streams, server: server}
	cmd := &cobra.Command{
		Use:   "plan [POD]",
		Short: "Show what would be resized now, to what, and if not, why not",
		Long: `Show what would be resized now, to what, and if not, why not.

Without POD every pod of the namespace is shown, with --all-namespaces every pod
of the cluster. There is a row per container. CPU and MEMORY are its requests,
"current → desired" where they would change. DECISION is

  resize   the pod has other requests or limits than it should have on its node
  aligned  it has what it should have
  skip     it is left alone; REASON says why

Nothing is changed. The exit code is that of "kubectl diff":

  0  there is nothing to resize
  1  at least one pod would be resized
  2  an error; the output is not complete`,
		Example: `  # Why was this pod (not) resized?
  resizectl plan web-6d4cf56db6-x2x7p -n shop

  # Every pod of a namespace, with limits, originals, factors and the reasons in full
  resizectl plan -n shop -o wide

  # The names of all pods that would be resized
  resizectl plan -A -o json | jq -r '.plans[] | select(.decision == "DECISION_RESIZE") | .namespace + "/" + .pod'`,
		Args:              positional(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, pods []string) error {
			o.pods = pods
			if err := o.validate(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "default", "namespace of the pods")
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "show the pods of every namespace, whatever --namespace says")
	cmd.Flags().BoolVar(&o.serverSide, "server-side-preview", false, "have the API server asked too, by a dry run of what would be written")
	o.output.addFlag(cmd)
	return cmd
}

// validate refuses in particular empty names, which a script passes when a
// variable is not set: to the server an empty namespace is the whole cluster.
func (o *planOptions) validate(cmd *cobra.Command) error {
	switch {
	case len(o.pods) > 0 && o.allNamespaces:
		return usageErrorf(cmd, "a pod is in one namespace: name it with --namespace instead of --all-namespaces")
	case len(o.pods) > 0 && o.pods[0] == "":
		return usageErrorf(cmd, "the name of the pod is empty")
	case o.namespace == "":
		return usageErrorf(cmd, "the namespace is empty; every namespace is --all-namespaces")
	}
	return nil
}

func (o *planOptions) run(ctx context.Context) error {
	return o.server.call(ctx, func(ctx context.Context, c *client.Client) error {
		if len(o.pods) > 0 {
			return o.runPod(ctx, c, o.pods[0])
		}
		return o.runPods(ctx, c)
	})
}

func (o *planOptions) previewOptions() []client.PreviewOption {
	if o.serverSide {
		return []client.PreviewOption{client.ServerSide()}
	}
	return nil
}

func (o *planOptions) runPod(ctx context.Context, c *client.Client, pod string) error {
	plan, err := c.PreviewPod(ctx, o.namespace, pod, o.previewOptions()...)
	if err != nil {
		return err
	}
	if err := printOnePlan(o.Out, o.output, plan); err != nil {
		return err
	}
	if plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE {
		return errDifferences
	}
	return nil
}

func (o *planOptions) runPods(ctx context.Context, c *client.Client) error {
	namespace := o.namespace
	if o.allNamespaces {
		namespace = ""
	}
	stream := c.PreviewPlans(ctx, namespace, o.previewOptions()...)
	if err := o.printPlans(stream); err != nil {
		return err
	}
	if stream.Summary().GetPods() == 0 {
		if _, err := fmt.Fprintln(o.ErrOut, o.nothingFound()); err != nil {
			return err
		}
	}
	if stream.Summary().GetResize() > 0 {
		return errDifferences
	}
	return nil
}

// planPrinter prints plans as they arrive.
type planPrinter interface {
	plan(*workloadresizerv1.Plan) error
	summary(*workloadresizerv1.PlanSummary) error
}

func newPlanPrinter(w io.Writer, output format, withNamespace bool) planPrinter {
	switch output {
	case formatJSON:
		return &plansJSON{w: w}
	case formatYAML:
		return &plansYAML{w: w}
	}
	return newPlansTable(w, withNamespace, output == formatWide)
}

func printOnePlan(w io.Writer, output format, plan *workloadresizerv1.Plan) error {
	switch output {
	case formatJSON, formatYAML:
		return printDocument(w, output, plan)
	}
	return printPlan(w, plan, output == formatWide)
}

// printPlans prints the stream. If it breaks off, what was printed until then
// is still written out, as an answer that can be seen to have no end.
func (o *planOptions) printPlans(stream *client.PlanStream) (err error) {
	out := bufio.NewWriter(o.Out)
	defer func() {
		if flushErr := out.Flush(); err == nil {
			err = flushErr
		}
	}()
	printer := newPlanPrinter(out, o.output, o.allNamespaces)
	for plan, err := range stream.All() {
		if err != nil {
			return err
		}
		if err := printer.plan(plan); err != nil {
			return err
		}
	}
	return printer.summary(stream.Summary())
}

func (o *planOptions) nothingFound() string {
	if o.allNamespaces {
		return "no pods found"
	}
	return fmt.Sprintf("no pods found in namespace %s", o.namespace)
}
