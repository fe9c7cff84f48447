package command

import (
	"strings"

	"github.com/spf13/cobra"
)

// Pod is the pod that a command is about.
type Pod struct{ Namespace, Name string }

// Complete parses the arguments.
func (p *Pod) Complete(cmd *cobra.Command, args []string) error {
	named, err := ParseObject(cmd, args)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return UsageErrorf(cmd, "name the pod: %s POD", cmd.CommandPath())
	case named.Pod() == "":
		return UsageErrorf(cmd, "%s is not a pod: name one pod", strings.Join(args, " "))
	case p.Namespace == "":
		return UsageErrorf(cmd, "the namespace is empty; omit --namespace for the default one")
	}
	p.Name = named.Pod()
	return nil
}
