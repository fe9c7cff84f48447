package command

import "github.com/spf13/cobra"

// Pod is the pod that a command is about, or a workload with such a pod.
type Pod struct {
	Object
	Namespace string
}

// Complete parses the arguments.
func (p *Pod) Complete(cmd *cobra.Command, args []string) (err error) {
	if p.Object, err = ParseObject(cmd, args); err != nil {
		return err
	}
	if len(args) == 0 {
		return UsageErrorf(cmd, "name the pod: %s POD", cmd.CommandPath())
	}
	if err := CheckNamespace(cmd, p.Namespace, "omit --namespace for the default one"); err != nil {
		return err
	}
	p.Namespace, err = p.In(cmd, p.Namespace)
	return err
}
