package command

import "github.com/spf13/cobra"

// CompleteFlag registers the completion of a flag of cmd.
func CompleteFlag(cmd *cobra.Command, name string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err) // There is no such flag, or it is registered already.
	}
}
