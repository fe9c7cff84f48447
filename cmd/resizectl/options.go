package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// globalFlags is the part of cobra's usage template that repeats the flags of the root command
// in the help of every other command.
const globalFlags = `Global Flags:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}`

// newOptionsCommand returns the command that lists the flags of the root command. In the help of
// all other commands, a reference to that command replaces these flags, as in kubectl.
func newOptionsCommand(root *cobra.Command, streams genericiooptions.IOStreams) *cobra.Command {
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), globalFlags,
		`Use "{{.Root.CommandPath}} options" for the flags that apply to all commands.`, 1))
	return &cobra.Command{
		Use:   "options",
		Short: "List the flags that apply to all commands",
		Example: `  # List the flags that apply to all commands
  resizectl options`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(streams.Out, "These flags apply to all commands:\n\n%s", cmd.InheritedFlags().FlagUsages())
			return err
		},
	}
}
