package plans

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// selection selects the pods to plan: those that match all of its fields.
type selection struct {
	namespace     string
	allNamespaces bool
	pod           string
	workload      *workloadresizerv1.Workload
	labels        string
	node          string
	// nodeTypes has at most one element, except for a manifest.
	nodeTypes []string
}

func (s *selection) addSelectionFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	connect.AddNamespaceFlag(cmd, &s.namespace, "namespace of the pods; for a manifest, of objects that name none")
	flags.BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "show the pods in every namespace, regardless of --namespace")
	flags.StringVarP(&s.labels, "selector", "l", "", "only pods with these labels, such as app=web,tier!=cache")
	flags.StringVar(&s.node, "node", "", "only pods on this node")
	flags.StringSliceVar(&s.nodeTypes, "node-type", nil, "only pods on nodes of this type; for a manifest, the node types to plan for (default: all)")
}

// complete parses the arguments. It rejects in particular empty names, which a script passes
// if a variable is not set: to the server, an empty namespace is the whole cluster.
func (s *selection) complete(cmd *cobra.Command, args []string) error {
	if err := command.CheckNamespace(cmd, s.namespace, "use --all-namespaces for every namespace"); err != nil {
		return err
	}
	if err := command.CheckSelector(cmd, s.labels); err != nil {
		return err
	}
	for _, name := range []string{"selector", "node", "node-type"} {
		if err := command.CheckFlag(cmd, name, "for all pods"); err != nil {
			return err
		}
	}
	if slices.Contains(s.nodeTypes, "") {
		return command.UsageErrorf(cmd, "--node-type %q has an empty name: separate the names by one comma each", strings.Join(s.nodeTypes, ","))
	}
	named, err := command.ParseObject(cmd, args)
	if err != nil {
		return err
	}
	if named.Name != "" && s.allNamespaces {
		return command.UsageErrorf(cmd, "a %s is in one namespace: name it with --namespace instead of --all-namespaces", print.Type(named.Kind))
	}
	s.pod, s.workload = named.Pod(), named.Workload()
	s.namespace, err = named.In(cmd, s.namespace)
	return err
}

// validate rejects selections of one pod, or none, in a roundabout way.
func (s *selection) validate(cmd *cobra.Command) error {
	switch {
	case s.pod != "" && (s.labels != "" || s.node != "" || len(s.nodeTypes) > 0):
		return command.UsageErrorf(cmd, "--selector, --node and --node-type cannot be combined with the name of a pod")
	case len(s.nodeTypes) > 1:
		return command.UsageErrorf(cmd, "--node-type accepts several types only for a manifest (-f); name one")
	}
	return nil
}

// request returns the request for the plans of all these pods.
func (s *selection) request() *workloadresizerv1.PreviewPlansRequest {
	request := &workloadresizerv1.PreviewPlansRequest{
		Namespace: s.namespace, Workload: s.workload, LabelSelector: s.labels, Node: s.node,
	}
	if s.allNamespaces {
		request.Namespace = ""
	}
	if len(s.nodeTypes) > 0 {
		request.NodeType = s.nodeTypes[0]
	}
	return request
}

// where describes the selection, for the end of a sentence; empty for every pod.
func (s *selection) where() string {
	var told []string
	if !s.allNamespaces {
		told = append(told, "in namespace "+s.namespace)
	}
	if s.pod != "" {
		told = append(told, "by the name "+s.pod)
	}
	if s.workload != nil {
		told = append(told, "of "+print.WorkloadName(s.workload))
	}
	if s.labels != "" {
		told = append(told, "with labels "+s.labels)
	}
	if s.node != "" {
		told = append(told, "on node "+s.node)
	}
	if len(s.nodeTypes) > 0 {
		told = append(told, "on nodes of type "+s.nodeTypes[0])
	}
	return strings.Join(told, " ")
}
