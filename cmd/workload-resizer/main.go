// Command workload-resizer is the server: it resizes the pods in a cluster in place and serves
// the gRPC API.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/version"
)

// build is what this program was built from.
var build = version.Read()

// decisionClock is the clock of all decisions about pods, and of usage. Only tests replace it, so that weeks pass in
// minutes. What concerns other programs, such as the Lease and timeouts, follows the system clock.
var decisionClock clock.WithTicker = clock.RealClock{}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // A second signal ends the process immediately.
	}()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "workload-resizer",
		Short: "Resize pods in place to what they need on the node where they run",
		Long: `Resize pods in place to what they need on the node where they run.

Requests are written for one kind of machine, the baseline. workload-resizer knows
how fast each node type is relative to the baseline. Without a restart, it resizes
each pod to

    original × baseline performance / node performance

within bounds. Its gRPC API reports what it would do, and why.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       build.String(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	// cobra's own flag would also use -v.
	root.Flags().Bool("version", false, "print the version of workload-resizer")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newServeCommand(), newBenchNodeCommand(), newReportUsageCommand(), &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), build)
			return err
		},
	})
	return root
}
