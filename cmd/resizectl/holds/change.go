package holds

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// change has the parts that pause, restore and resume share.
type change struct {
	print.Output
	target
	command.Confirmation
	server *connect.Connection
	dryRun command.DryRun
}

// addFlags adds the flags of every change; shows is what a dry run shows.
func (c *change) addFlags(cmd *cobra.Command, shows string) {
	c.addTargetFlags(cmd)
	c.AddYesFlag(cmd, "--all-namespaces")
	c.dryRun.AddFlag(cmd, shows)
	command.AddObjectFlags(cmd, &c.Output)
}

// did returns what the command has done, or would do.
func (c *change) did(done, would string) string {
	if c.dryRun.On() {
		return would
	}
	return done
}

// confirm asks for confirmation to change every pod in the cluster.
func (c *change) confirm(question func() string) command.Step {
	return func(cmd *cobra.Command, _ []string) error {
		if !c.allNamespaces || c.dryRun.On() {
			return nil
		}
		return c.Ask(cmd, c.IOStreams, question())
	}
}
