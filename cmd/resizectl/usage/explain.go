package usage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// containers are the containers of a workload that have one name, or all of its containers.
type containers struct {
	target
	container string
}

// page returns the command that shows something about the containers; usage describes --container.
func page[M proto.Message](c *containers, server *connect.Connection, v objects.Verb, usage string) objects.Page[M] {
	v.Args, v.Complete, v.Steps = cobra.ArbitraryArgs, connect.CompleteWorkloads(server), []command.Step{c.complete}
	v.Flags = func(cmd *cobra.Command) {
		connect.AddNamespaceFlag(cmd, &c.namespace, "namespace of the workload")
		cmd.Flags().StringVarP(&c.container, "container", "c", "", usage)
	}
	return objects.Page[M]{Verb: v}
}

func newExplainCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &containers{}
	p := page[*workloadresizerv1.GetRecommendationResponse](o, server, objects.Verb{
		Use:   "explain WORKLOAD",
		Short: "Explain step by step what a workload needs",
		Long: `Explain step by step what a workload needs, for each of its containers. WORKLOAD is
TYPE/NAME, such as deployment/web, or its name alone if no other workload has it.
A workload without pods is explained, too, if it was measured before: name its type.
Of an owner whose pods count for a different workload, such as a ReplicaSet, that workload
is explained; what its pods request together is of the pods of the owner only.

The steps are

  - the rule that applies, and where its demand comes from
  - what was measured on each node type, as measured, and how fast the node type is. The
    history of a node type whose speed is unknown does not count
  - how the target follows, in units of the baseline: estimate, margin, floor, bounds
  - the bounds outside of which requests are wrong, and how much history there is
  - what pods share with their neighbors on average, or would share with demand.mode: apply
  - whether requests may be lowered to the target
  - the highest usage of memory, and sizes that have proven too small
  - which resources are withheld, because a HorizontalPodAutoscaler compares them with usage
  - the sizes on the types of nodes where its pods run
  - what its pods request, use and need together, and what that saves

-o json and -o yaml print the same as in the API. -o wide is the same as table.`,
		Example: `  # Explain what a Deployment needs
  resizectl usage explain deployment/web -n shop

  # Print the target of one of its containers
  resizectl usage explain deployment/web -n shop -c app -o jsonpath='{.containers[0].recommendation.baseline.target}'`,
	}, "explain only the containers with this name")
	p.Fetch, p.Text = o.explain, o.print
	return p.Command(out, server)
}

// explain returns the explanation of the containers.
func (o *containers) explain(ctx context.Context, c *client.Client, to *print.Output) (*workloadresizerv1.GetRecommendationResponse, error) {
	if err := o.resolve(ctx, c); err != nil {
		return nil, err
	}
	resp, err := c.GetRecommendation(ctx, o.namespace, o.workload)
	if err != nil {
		return nil, err
	}
	names := containersOf(resp)
	if o.container != "" {
		resp.Containers = slices.DeleteFunc(resp.GetContainers(), func(e *workloadresizerv1.ExplainedRecommendation) bool {
			return e.GetRecommendation().GetContainer() != o.container
		})
	}
	if len(resp.GetContainers()) == 0 && (o.container != "" || !to.Format.IsDocument()) {
		return nil, o.noContainer(o.container, names)
	}
	return resp, nil
}

// containersOf returns the names of the containers.
func containersOf(resp *workloadresizerv1.GetRecommendationResponse) []string {
	var names []string
	for _, e := range resp.GetContainers() {
		if name := e.GetRecommendation().GetContainer(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// noContainer returns the error for a container that does not exist; name is empty for any.
func (t *target) noContainer(name string, names []string) error {
	workload := print.WorkloadName(t.workload)
	if len(names) == 0 {
		return fmt.Errorf("nothing is known of a container of %s in namespace %s: \"resizectl usage sources\" shows what is collected", workload, t.namespace)
	}
	return fmt.Errorf("%s in namespace %s has no container %q: set --container to one of %s", workload, t.namespace, name, print.OneLine(strings.Join(names, ", ")))
}

func (o *containers) print(to *print.Output, resp *workloadresizerv1.GetRecommendationResponse) error {
	for i, e := range resp.GetContainers() {
		steps, err := Steps(to.Painter(), e, resp.GetCurrency())
		if err != nil {
			return err
		}
		lead := "\n"
		if i == 0 {
			lead = ""
		}
		// The pods of a ReplicaSet that was named count for its Deployment.
		of, pods := print.WorkloadName(e.GetRecommendation().GetWorkload()), ""
		if named := print.WorkloadName(o.workload); named != of {
			pods = ", for which the pods of " + named + " count"
		}
		if _, err := fmt.Fprintf(to.Out, "%sContainer %s of %s in namespace %s%s\n", lead, print.OneLine(e.GetRecommendation().GetContainer()), of, o.namespace, pods); err != nil {
			return err
		}
		if err := to.Steps(steps); err != nil {
			return err
		}
	}
	return nil
}
