package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// onePod is the one pod that a command is about.
type onePod struct{ namespace, pod string }

func (p *onePod) addNamespaceFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&p.namespace, "namespace", "n", "default", "namespace of the pod")
}

// complete takes over the argument.
func (p *onePod) complete(cmd *cobra.Command, args []string) error {
	named, err := parseObject(cmd, args)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return usageErrorf(cmd, "name the pod: %s POD", cmd.CommandPath())
	case named.pod() == "":
		return usageErrorf(cmd, "%s is not a pod: name one pod", strings.Join(args, " "))
	case p.namespace == "":
		return usageErrorf(cmd, "the namespace is empty; leave --namespace out for the namespace default")
	}
	p.pod = named.pod()
	return nil
}
