package configs

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// NewCommand returns config, with its commands.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check the configuration of the server",
		Long: `Check the configuration of the server, config.yaml: the performance of the node
types, the bounds of requests, and the rules for some pods.

This needs no server.`,
	}
	command.Group(cmd)
	cmd.AddCommand(newValidateCommand(streams))
	return cmd
}
