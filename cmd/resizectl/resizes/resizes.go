package resizes

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// NewCommand returns resizes, with its commands.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resizes",
		Short: "Show the resizes of pods, and their state on the nodes",
		Long: `Show the resizes of pods, and their state on the nodes.

This is the state of the cluster itself: it includes resizes by other replicas of
the server, and resizes from before the server started. "resizectl plan" shows
what is still to be done.`,
	}
	command.Group(cmd)
	cmd.AddCommand(
		newListCommand(out, server),
		newGetCommand(out, server),
		newWatchCommand(out, server),
	)
	return cmd
}

// list returns the verbs list and watch over the selected pods.
func list(s *selection) objects.List[*workloadresizerv1.Resize, container] {
	return objects.List[*workloadresizerv1.Resize, container]{
		Kind: func(o *print.Output) objects.Kind[*workloadresizerv1.Resize, container] {
			return kind(o, s.allNamespaces)
		},
		Fetch: func(ctx context.Context, c *client.Client, _ *print.Output) (*objects.Answer[*workloadresizerv1.Resize], error) {
			all := &workloadresizerv1.ListResizesResponse{}
			for resize, err := range c.ListResizes(ctx, s.request()) {
				if err != nil {
					return nil, err
				}
				all.Resizes = append(all.Resizes, resize)
			}
			return &objects.Answer[*workloadresizerv1.Resize]{
				Objects: all.GetResizes(), Document: []proto.Message{all}, Empty: s.nothingFound(),
				Below: func(o *print.Output) error { return remarkParts(o, all.GetResizes()) },
			}, nil
		},
		Watch: func(ctx context.Context, c *client.Client, opts ...client.WatchOption) iter.Seq2[client.ResizeEvent, error] {
			selected := s.request()
			return c.WatchResizes(ctx, &workloadresizerv1.WatchResizesRequest{
				Namespace: selected.GetNamespace(), LabelSelector: selected.GetLabelSelector(), States: selected.GetStates(),
			}, opts...)
		},
	}
}

func newListCommand(out print.Output, server *connect.Connection) *cobra.Command {
	s := &selection{}
	l := list(s)
	l.WatchFlag = `after the list, print every resize as it happens, as "resizectl resizes watch" does`
	l.Verb = objects.Verb{
		Use:   "list",
		Short: "List the pods that were sized",
		Long: `List the pods that were sized in the namespace or, with --all-namespaces, in the
cluster.

` + resizesHelp,
		Example: `  # List the resizes in a namespace
  resizectl resizes list -n shop

  # List the pods whose nodes cannot provide what they request
  resizectl resizes list -A --state deferred,infeasible,failed -o wide`,
		Flags: func(cmd *cobra.Command) { s.addFlags(cmd, "list") },
		Steps: []command.Step{s.complete},
	}
	return l.Command(out, server)
}

func newWatchCommand(out print.Output, server *connect.Connection) *cobra.Command {
	s := &selection{}
	return list(s).WatchCommand(objects.Verb{
		Short: "Show the pods that were sized, and then every resize as it happens",
		Long: `Show the pods that were sized, and then every resize as it happens.

` + connect.WatchHelp + "\n\n" + resizesHelp,
		Example: `  # Watch the pods of a rollout being sized
  resizectl resizes watch -n shop

  # Print each resize that its node has no room for, as JSON
  resizectl resizes watch -A --state deferred -o json`,
		Flags: func(cmd *cobra.Command) { s.addFlags(cmd, "watch") },
		Steps: []command.Step{s.complete},
	}, out, server)
}

func newGetCommand(out print.Output, server *connect.Connection) *cobra.Command {
	pod := &command.Pod{}
	return objects.List[*workloadresizerv1.Resize, container]{
		Verb: objects.Verb{
			Use:   "get POD | TYPE/NAME | -l LABELS",
			Short: "Show the resize of a pod, and its state on the node",
			Long: `Show the resize of a pod, and its state on the node. TYPE/NAME stands for one of
the pods of a workload, and --selector for one of the pods with these labels.

` + resizesHelp,
			Example: `  # Show whether a pod runs with what it requests
  resizectl resizes get web-6d4cf56db6-x2x7p -n shop -o wide`,
			Args:     cobra.ArbitraryArgs,
			Complete: connect.CompleteObjects(server),
			Flags: func(cmd *cobra.Command) {
				connect.AddNamespaceFlag(cmd, &pod.Namespace, "namespace of the pod")
				pod.AddSelectorFlag(cmd)
			},
			Steps: []command.Step{pod.Complete},
		},
		One:  true,
		Kind: func(o *print.Output) objects.Kind[*workloadresizerv1.Resize, container] { return kind(o, false) },
		Fetch: func(ctx context.Context, c *client.Client, o *print.Output) (*objects.Answer[*workloadresizerv1.Resize], error) {
			name, err := connect.ChoosePod(ctx, c, o.ErrOut, pod)
			if err != nil {
				return nil, err
			}
			resize, err := c.GetResize(ctx, pod.Namespace, name)
			if err != nil {
				return nil, err
			}
			return &objects.Answer[*workloadresizerv1.Resize]{
				Objects: []*workloadresizerv1.Resize{resize}, Document: []proto.Message{resize},
				Below: func(o *print.Output) error { return printState(ctx, c, o.Out, resize) },
			}, nil
		},
	}.Command(out, server)
}

// printState prints the kubelet's message, and why a pod is only partly sized.
func printState(ctx context.Context, c *client.Client, w io.Writer, resize *workloadresizerv1.Resize) error {
	said := ""
	if resize.GetMessage() != "" {
		said = fmt.Sprintf("%s: %s", State(resize.GetState()), print.OneLine(resize.GetMessage()))
	}
	if err := print.Texts(w, said); err != nil || !Partly(resize) {
		return err
	}
	return printPart(ctx, c, w, resize)
}

// resizesHelp describes the tables of all these commands.
const resizesHelp = `There is one row per container that was sized. A pod is sized once workload-resizer
has given it the size for its node, or has found that it already has that size. CPU
and MEMORY are its requests, "original → now". STATE is the state of the resize on
the node:

  actuated     the containers run with these sizes
  pending      the kubelet has not processed the resize yet
  in-progress  the kubelet is actuating the resize
  deferred     the node has no room now; the kubelet tries again
  infeasible   the node can never provide these sizes
  failed       the kubelet could not actuate the resize, or the API server did not accept it

AGE is how long ago the pod was sized, or "partly" while some of its sizes are not
applied yet. TYPE is the node type that the pod is sized for, once all its sizes
are applied.

-o wide also shows what the containers run with (ACTUAL), and the kubelet's
message.`

// selection selects the pods to list or to watch.
type selection struct {
	namespace     string
	allNamespaces bool
	labels        string
	stateNames    []string
	states        []workloadresizerv1.ResizeState
}

// addFlags adds the flags; verb is what the command does with the pods.
func (s *selection) addFlags(cmd *cobra.Command, verb string) {
	connect.AddNamespaceFlag(cmd, &s.namespace, "namespace of the pods")
	cmd.Flags().BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, verb+" the pods in every namespace, regardless of --namespace")
	cmd.Flags().StringVarP(&s.labels, "selector", "l", "", "only pods with these labels, such as app=web,tier!=cache")
	addStateFlag(cmd, &s.stateNames)
}

// complete checks the flags.
func (s *selection) complete(cmd *cobra.Command, _ []string) (err error) {
	if err := command.CheckNamespace(cmd, s.namespace, "use --all-namespaces for every namespace"); err != nil {
		return err
	}
	if err := command.CheckSelector(cmd, s.labels); err != nil {
		return err
	}
	if cmd.Flags().Changed("state") && len(s.stateNames) == 0 {
		return command.UsageErrorf(cmd, "--state is empty; omit it for all states")
	}
	s.states, err = parseStates(cmd, s.stateNames)
	return err
}

// request returns the selection in the API.
func (s *selection) request() *workloadresizerv1.ListResizesRequest {
	request := &workloadresizerv1.ListResizesRequest{Namespace: s.namespace, LabelSelector: s.labels, States: s.states}
	if s.allNamespaces {
		request.Namespace = ""
	}
	return request
}

// nothingFound says that no pod is selected.
func (s *selection) nothingFound() string {
	found := "no pods found that were sized"
	if s.labels != "" || len(s.states) > 0 {
		found = "no matching pods found that were sized"
	}
	if s.allNamespaces {
		return found
	}
	return found + " in namespace " + s.namespace
}
