package holds

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// targetUse is how a target is written.
const targetUse = "[NAMESPACE/]POD | [NAMESPACE/]TYPE/NAME | -n NAMESPACE | -A"

// target selects the pods that a command changes: a pod, or the pods of a workload, a
// namespace or the cluster. Unlike the selection of plan, it has no default.
type target struct {
	command.Object
	namespace     string
	allNamespaces bool
}

func (t *target) addTargetFlags(cmd *cobra.Command) {
	connect.AddNamespaceFlag(cmd, &t.namespace, "namespace of POD or TYPE/NAME; without these, every pod in the namespace")
	cmd.Flags().BoolVarP(&t.allNamespaces, "all-namespaces", "A", false, "every pod in the cluster")
}

// complete parses the arguments. It rejects in particular arguments that name no pods or two
// scopes.
func (t *target) complete(cmd *cobra.Command, args []string) error {
	named := cmd.Flags().Changed("namespace")
	if err := command.CheckNamespace(cmd, t.namespace, "use --all-namespaces for every namespace"); err != nil {
		return err
	}
	switch {
	case t.allNamespaces && (len(args) > 0 || named):
		return command.UsageErrorf(cmd, "--all-namespaces selects every pod: use it alone, or set --namespace or name a pod instead")
	case len(args) == 0 && !named && !t.allNamespaces:
		return command.UsageErrorf(cmd, "name a pod, a workload (TYPE/NAME), a namespace (--namespace) or every pod (--all-namespaces)")
	}
	var err error
	if t.Object, err = command.ParseObject(cmd, args); err != nil {
		return err
	}
	t.namespace, err = t.In(cmd, t.namespace)
	return err
}

// scope returns the target in the API.
func (t *target) scope() *workloadresizerv1.HoldScope {
	switch {
	case t.allNamespaces:
		return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_AllNamespaces{AllNamespaces: &workloadresizerv1.AllNamespaces{}}}
	case t.Pod() != "":
		return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Pod{
			Pod: &workloadresizerv1.NamespacedPod{Namespace: t.namespace, Name: t.Pod()},
		}}
	case t.Workload() != nil:
		return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Workload{
			Workload: &workloadresizerv1.NamespacedWorkload{Namespace: t.namespace, Kind: t.Kind, Name: t.Name},
		}}
	}
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Namespace{Namespace: t.namespace}}
}

// selected returns the request for the plans of the pods of the target.
func (t *target) selected() *workloadresizerv1.PreviewPlansRequest {
	if t.allNamespaces {
		return &workloadresizerv1.PreviewPlansRequest{}
	}
	return &workloadresizerv1.PreviewPlansRequest{Namespace: t.namespace, Pod: t.Pod(), Workload: t.Workload()}
}
