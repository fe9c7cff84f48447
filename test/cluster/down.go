package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/lifecycle"
)

func newDownCommand() *cobra.Command {
	var dir string
	command := &cobra.Command{
		Use:   "down --dir DIR",
		Short: "Stop a cluster and remove all its files",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := interruptible()
			defer stop()
			found, err := lifecycle.Down(ctx, dir)
			if err != nil {
				return err
			}
			if !found {
				fmt.Fprintf(command.ErrOrStderr(), "no cluster in %s\n", dir)
			}
			return nil
		},
	}
	addDirFlag(command, &dir)
	return command
}
