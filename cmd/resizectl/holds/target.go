package holds

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// targetUse is how a target is written.
const targetUse = "POD | TYPE/NAME | -n NAMESPACE | -A"

// target says which pods a command changes: a pod, those of a workload, of a
// namespace or of the cluster. Unlike that of plan, it is never guessed.
type target struct {
	command.Object
	namespace     string
	allNamespaces bool
}

func (t *target) addTargetFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&t.namespace, "namespace", "n", "default", "namespace of POD or TYPE/NAME; without them, every pod of the namespace")
	cmd.Flags().BoolVarP(&t.allNamespaces, "all-namespaces", "A", false, "every pod of the cluster")
}

// complete takes over the arguments, and refuses in particular what names no
// pods or two scopes.
func (t *target) complete(cmd *cobra.Command, args []string) error {
	named := cmd.Flags().Changed("namespace")
	switch {
	case t.namespace == "":
		return command.UsageErrorf(cmd, "the namespace is empty; every namespace is --all-namespaces")
	case t.allNamespaces && (len(args) > 0 || named):
		return command.UsageErrorf(cmd, "--all-namespaces is every pod: name it alone, or a pod or --namespace instead")
	case len(args) == 0 && !named && !t.allNamespaces:
		return command.UsageErrorf(cmd, "name a pod, a workload (TYPE/NAME), a namespace (--namespace) or every pod (--all-namespaces)")
	}
	var err error
	t.Object, err = command.ParseObject(cmd, args)
	return err
}

// scope is the target in the API.
func (t *target) scope() *workloadresizerv1.HoldScope {
	if t.allNamespaces {
		return &workloadresizerv1.HoldScope{AllNamespaces: true}
	}
	return &workloadresizerv1.HoldScope{Namespace: t.namespace, Pod: t.Pod(), Workload: t.Workload()}
}
