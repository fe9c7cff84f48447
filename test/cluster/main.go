package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// errUnhealthy makes the program fail without printing a message.
var errUnhealthy = errors.New("the cluster is not healthy")

func main() {
	if err := newCommand().Execute(); err != nil {
		if !errors.Is(err, errUnhealthy) {
			fmt.Fprintln(os.Stderr, "testcluster:", err)
		}
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	command := &cobra.Command{
		Use:           "testcluster",
		Short:         "Run a real Kubernetes cluster on one machine, for tests",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.CompletionOptions.DisableDefaultCmd = true
	// The components' packages define this flag in every program that imports them.
	if flag := pflag.CommandLine.Lookup("version"); flag != nil {
		flag.Hidden = true
	}
	command.AddCommand(
		newUpCommand(), newDownCommand(), newStatusCommand(),
		newStopCommand(), newStartCommand(), newFillCommand(), newRunCommand(),
	)
	return command
}

// interruptible returns a context that ends on Ctrl-C and SIGTERM. A second signal kills
// the program.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// addDirFlag adds the flag that selects the cluster.
func addDirFlag(command *cobra.Command, dir *string) {
	command.Flags().StringVar(dir, "dir", "", "directory of the cluster")
	if err := command.MarkFlagRequired("dir"); err != nil {
		panic(err)
	}
}
