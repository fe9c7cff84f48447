package command

import "github.com/spf13/cobra"

// Pod is the pod that a command is about, or a workload or labels with such a pod.
type Pod struct {
	Object
	Namespace string
	Labels    string
}

// AddSelectorFlag adds --selector.
func (p *Pod) AddSelectorFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&p.Labels, "selector", "l", "", "one of the pods with these labels, such as app=web,tier!=cache, instead of a name")
}

// Complete parses the arguments.
func (p *Pod) Complete(cmd *cobra.Command, args []string) (err error) {
	if p.Object, err = ParseObject(cmd, args); err != nil {
		return err
	}
	switch selected := cmd.Flags().Changed("selector"); {
	case selected && len(args) > 0:
		return UsageErrorf(cmd, "--selector cannot be combined with the name of a pod or workload")
	case selected && p.Labels == "":
		return UsageErrorf(cmd, "--selector is empty: name the pod, or set --selector to its labels")
	case !selected && len(args) == 0:
		return UsageErrorf(cmd, "name the pod: %s POD", cmd.CommandPath())
	}
	if err := CheckSelector(cmd, p.Labels); err != nil {
		return err
	}
	if err := CheckNamespace(cmd, p.Namespace, "omit --namespace for the default one"); err != nil {
		return err
	}
	p.Namespace, err = p.In(cmd, p.Namespace)
	return err
}

// Named reports whether the pod is known by its name, not one of several.
func (p *Pod) Named() bool { return p.Pod() != "" }
