package command

import (
	"context"

	"github.com/spf13/cobra"
)

// Step prepares a command from its flags and arguments before it runs: it parses them,
// checks them, or asks for confirmation.
type Step func(cmd *cobra.Command, args []string) error

// Steps executes the steps in order and then calls run. It stops at the first step that
// fails.
func Steps(run func(context.Context) error, steps ...Step) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		for _, step := range steps {
			if err := step(cmd, args); err != nil {
				return err
			}
		}
		return run(cmd.Context())
	}
}
