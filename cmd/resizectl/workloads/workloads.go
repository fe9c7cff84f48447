package workloads

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// workload is what a row is about.
type workload = *workloadresizerv1.WorkloadSummary

// NewCommand returns workloads, with its command.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workloads",
		Short: "Show the workloads in the cluster, and what was decided on their pods",
		Long: `Show the workloads in the cluster, and what was decided on their pods. "resizectl plan"
shows each pod, and "resizectl usage" adds up what workloads request, use and need.`,
	}
	command.Group(cmd)
	cmd.AddCommand(newListCommand(out, server))
	return cmd
}

func newListCommand(out print.Output, server *connect.Connection) *cobra.Command {
	s := &selection{}
	return objects.List[workload, workload]{
		Verb: objects.Verb{
			Use:   "list [WORKLOAD]",
			Short: "List workloads: what they request, use and need, and the decisions on their pods",
			Long: `List the workloads that have pods in the namespace or, with --all-namespaces, in the
cluster. WORKLOAD selects one: TYPE/NAME, such as deployment/web. If it is a different
owner of pods, the rows are about the workloads that its pods count for.

CPU and MEMORY are sums over running pods, "authored → requested": what they would
request as their authors wrote them, and what they request now. USED is what they use:
the mean of CPU, and of the highest memory of each day. NEED is what they would request
if they were sized by that. USED and NEED leave out the pods in UNKNOWN, whose usage is
not known; "-" means all of them. The columns are there if anything is known.

DECISION and REASON are the last decision on the pods, and the first reason for it, as
in resizectl plan; each has a number if it is not the same for all pods. Pods that were
created a moment ago may be missing there. A workload "-" has the pods in a namespace
that count for no workload, such as a pod without a controller.

With -o wide, THROTTLED is the number of running pods with a container that its CPU limit
throttles so often that its usage does not show how much it would use. The column is there
if any pod has one.

The server lists workloads by name. --order-by and --limit select, for example, those
that request most; --sort-by sorts only what was listed.`,
			Example: `  # List the workloads in a namespace
  resizectl workloads list -n shop

  # List the ten workloads in the cluster that request most memory
  resizectl workloads list -A --order-by "requested_memory desc" --limit 10

  # List the workloads with pods that their CPU limits throttle, most pods first
  resizectl workloads list -A --order-by "throttled desc" -o wide --limit 10

  # List the workloads with pods on nodes of an unknown type
  resizectl workloads list -A --reason UnknownNodeType

  # Print the names of the workloads that are about to be resized
  resizectl workloads list -A --decision resize -o name`,
			Args:     cobra.ArbitraryArgs,
			Complete: connect.CompleteWorkloads(server),
			Flags:    s.addFlags,
			Steps:    []command.Step{s.complete, s.limit.Check},
		},
		Kind: func(*print.Output) objects.Kind[workload, workload] { return Kind(s.allNamespaces) },
		Fetch: func(ctx context.Context, c *client.Client, _ *print.Output) (*objects.Answer[workload], error) {
			all, err := s.fetch(ctx, c)
			if err != nil {
				return nil, err
			}
			more := ""
			if all.GetNextPageToken() != "" {
				more = "there are more workloads: --limit 0 lists all"
			}
			return &objects.Answer[workload]{
				Objects: all.GetWorkloads(), Document: []proto.Message{all}, Empty: s.nothingFound(), Remarks: []string{more},
				Below: func(o *print.Output) error { return remarkUnknown(o, all.GetWorkloads()) },
			}, nil
		},
	}.Command(out, server)
}

// remarkUnknown prints of how many pods the usage is not known, and how to find out why. None is collected of pods that count for
// no workload.
func remarkUnknown(o *print.Output, all []workload) error {
	var unknown, pods int64
	for _, w := range all {
		if w.GetSavings().GetWorkload() != nil {
			unknown, pods = unknown+w.GetSavings().GetUnknownPods(), pods+w.GetSavings().GetPods()
		}
	}
	if unknown == 0 {
		return nil
	}
	return print.Texts(o.ErrOut, fmt.Sprintf("the usage of %d of %s is unknown; %s shows why", unknown, print.CountOf(pods, "pod"), o.Commands(`"resizectl usage explain WORKLOAD"`)))
}
