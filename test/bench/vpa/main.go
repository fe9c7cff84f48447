package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/backtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
)

// The program is "resizectl backtest" with the VPA as further policies.
func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	color := print.ColorAuto
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	cmd := newCommand(print.Output{IOStreams: streams, Color: &color})
	err := cmd.ExecuteContext(ctx)
	return command.Report(ctx, streams.ErrOut, color.Painter(streams.ErrOut), err)
}

// newCommand returns the command with the VPA's policies.
func newCommand(out print.Output) *cobra.Command {
	unlimited := defaultConfig()
	unlimited.PodMinCPUMillicores, unlimited.PodMinMemoryMb = 0, 0
	cmd := backtest.NewCommand(out,
		&vpaPolicy{label: "vpa", config: defaultConfig()},
		&vpaPolicy{label: "vpa-no-floors", config: unlimited},
		&vpaPolicy{label: "vpa-limit-2x", config: defaultConfig(), limits: need.Limits{Memory: need.Multiple, MemoryMultiple: 2}},
	)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd
}
