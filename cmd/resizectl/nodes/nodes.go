package nodes

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// NewCommand returns nodes, with its command.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "nodes",
		Short: "Show the nodes in the cluster, and what their pods request, use and share",
		Long: `Show the nodes in the cluster, and what their pods request, use and share. "resizectl
ratios" shows how fast each node type is.`,
	}
	command.Group(cmd)
	cmd.AddCommand(newListCommand(out, server))
	return cmd
}

func newListCommand(out print.Output, server *connect.Connection) *cobra.Command {
	nodeType := ""
	return objects.List[node, node]{
		Verb: objects.Verb{
			Use:   "list",
			Short: "List nodes: their types and factors, and what their pods request, use and share",
			Long: `List the nodes by name: their types and factors, and what their pods request, use and
share.

FACTOR is what the requests of pods are multiplied by on the node, "cpu/memory", unless
a rule has other ratios. A "-" means that the type has no ratio, so that pods there are
not resized.

CPU and MEMORY are what pods request, as a part of what the node has for them
(allocatable). USED is what running pods use of that: the mean of CPU, and of the
highest memory of each day. It leaves out the pods in UNKNOWN, whose usage is not known.
The column is there if anything is known.

SHARE is which part of their rest pods get where they share a resource: beyond what they
need most of the time, up to their peaks. LACKS is what the node lacks for both.

STATUS is as in kubectl get nodes. An overloaded node has a taint that keeps new pods
off.

-o wide has the amounts. STEADY is what pods need most of the time, REST what they need
beyond that at their peaks, and RESERVE the part of the rest that is kept for them.`,
			Example: `  # List the nodes
  resizectl nodes list

  # List the nodes of one type, with amounts
  resizectl nodes list --node-type n4 -o wide

  # List the nodes, those with most pods last
  resizectl nodes list --sort-by .pods`,
			Flags: func(cmd *cobra.Command) {
				cmd.Flags().StringVar(&nodeType, "node-type", "", "only nodes of this type")
				command.CompleteFlag(cmd, "node-type", connect.CompleteNodeTypeFlag(server, false))
			},
			Steps: []command.Step{func(cmd *cobra.Command, _ []string) error {
				return command.CheckFlag(cmd, "node-type", "for all nodes")
			}},
		},
		Kind: Kind,
		Fetch: func(ctx context.Context, c *client.Client, _ *print.Output) (*objects.Answer[node], error) {
			all := &workloadresizerv1.ListNodesResponse{}
			for n, err := range c.ListNodes(ctx, &workloadresizerv1.ListNodesRequest{NodeType: nodeType}) {
				if err != nil {
					return nil, err
				}
				all.Nodes = append(all.Nodes, n)
			}
			empty := "no nodes found"
			if nodeType != "" {
				empty += " of type " + print.OneLine(nodeType)
			}
			return &objects.Answer[node]{Objects: all.GetNodes(), Document: []proto.Message{all}, Empty: empty}, nil
		},
	}.Command(out, server)
}
