package command

import "github.com/spf13/cobra"

// CompleteFlag sets how the value of a flag of cmd is completed.
func CompleteFlag(cmd *cobra.Command, name string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err) // There is no such flag, or it was said twice.
	}
}
