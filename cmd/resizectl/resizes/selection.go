package resizes

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

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
