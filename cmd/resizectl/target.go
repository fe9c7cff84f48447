package main

import (
	"github.com/spf13/cobra"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// target says which pods a command changes: a pod, a namespace or the cluster.
// Unlike that of plan, it is never guessed.
type target struct {
	namespace     string
	allNamespaces bool
	pod           string
}

func (t *target) addTargetFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&t.namespace, "namespace", "n", "default", "namespace of POD; without POD, every pod of the namespace")
	cmd.Flags().BoolVarP(&t.allNamespaces, "all-namespaces", "A", false, "every pod of the cluster")
}

// complete takes over the arguments, and refuses in particular what names no
// pods or two scopes.
func (t *target) complete(cmd *cobra.Command, args []string) error {
	named := cmd.Flags().Changed("namespace")
	switch {
	case len(args) > 0 && args[0] == "":
		return usageErrorf(cmd, "the name of the pod is empty")
	case t.namespace == "":
		return usageErrorf(cmd, "the namespace is empty; every namespace is --all-namespaces")
	case t.allNamespaces && (len(args) > 0 || named):
		return usageErrorf(cmd, "--all-namespaces is every pod: name it alone, or a pod or --namespace instead")
	case len(args) == 0 && !named && !t.allNamespaces:
		return usageErrorf(cmd, "name a pod, a namespace (--namespace) or every pod (--all-namespaces)")
	}
	if len(args) > 0 {
		t.pod = args[0]
	}
	return nil
}

// scope is the target in the API.
func (t *target) scope() *workloadresizerv1.HoldScope {
	if t.allNamespaces {
		return &workloadresizerv1.HoldScope{AllNamespaces: true}
	}
	return &workloadresizerv1.HoldScope{Namespace: t.namespace, Pod: t.pod}
}

// scopeText names a scope in a sentence.
func scopeText(s *workloadresizerv1.HoldScope) string {
	switch {
	case s.GetPod() != "":
		return "pod " + oneLine(s.GetNamespace()+"/"+s.GetPod())
	case s.GetNamespace() != "":
		return "namespace " + oneLine(s.GetNamespace())
	}
	return "every pod of the cluster"
}
