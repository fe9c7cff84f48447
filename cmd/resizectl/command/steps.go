package command

import (
	"context"

	"github.com/spf13/cobra"
)

// Step is what a command does with its flags and arguments before it runs: it takes them
// over, checks them, or asks whether they are meant.
type Step func(cmd *cobra.Command, args []string) error

// Steps carries out one after the other, until one fails, and then runs.
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
