package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/agent/cgroup"
	"github.com/workload-resizer/workload-resizer/agent/deliver"
	"github.com/workload-resizer/workload-resizer/agent/usage"
)

func newReportUsageCommand() *cobra.Command {
	o := &reportUsageOptions{}
	cmd := &cobra.Command{
		Use:   "report-usage",
		Short: "Report what the containers on this node use",
		Long: `Report what the containers on this node use. The control groups of all containers
of pods are read every few seconds, and one usage per container and minute is sent
to the server. It contains mean CPU, the highest working set, throttling, pressure,
and how often the memory limit was reached. The load of the node, and the pressure on its
CPU, are sent, too. A container that may be about to reach its
memory limit is reported immediately. It needs cgroup v2, and no privileges.

The server uses it if "push" is one of its sources of usage. While the server does
not answer, the usage of 10 minutes is kept.`,
		Example: `  # Report to a server in the cluster:
  workload-resizer report-usage --server workload-resizer.workload-resizer-system.svc:443 \
    --server-ca-file ca.crt --token-file token`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(o.validate(), o.try()); err != nil {
				return err
			}
			return reportUsage(cmd.Context(), o, cmd.ErrOrStderr())
		},
	}
	o.addTo(cmd.Flags())
	return cmd
}

// lastReport is how long the last report may take when the agent ends.
const lastReport = 3 * time.Second

// reportUsage reports until ctx is done.
func reportUsage(ctx context.Context, o *reportUsageOptions, stderr io.Writer) error {
	tree, err := cgroup.Open(o.cgroupRoot)
	if err != nil {
		return fmt.Errorf("--cgroup-root: %w", err)
	}
	sampler := usage.NewSampler(tree)
	if err := sampler.Sample(); err != nil {
		return fmt.Errorf("--cgroup-root: %w", err)
	}
	dial, err := o.dialer("report-usage")
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	sender := deliver.NewUsageSender(func() (deliver.UsageClient, error) {
		c, err := dial()
		if err != nil {
			return nil, err
		}
		return deliver.Connection(c), nil
	}, func() usage.Node { return usage.ReadNode("/proc") }, log)
	reporter := &usage.Reporter{Sampler: sampler, Interval: o.sampleInterval, Report: sender.Add, Log: log}
	log.Info("Reporting the usage of containers", "containers", sampler.Len(), "interval", o.sampleInterval, "server", o.server)
	var tasks sync.WaitGroup
	tasks.Go(func() { sender.Run(ctx) })
	tasks.Go(func() { reporter.Run(ctx) })
	tasks.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastReport)
	defer cancel()
	sender.Flush(last)
	return nil
}
