package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/lifecycle"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/process"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

func newStatusCommand() *cobra.Command {
	var dir string
	command := &cobra.Command{
		Use:   "status --dir DIR",
		Short: "Show the components of a cluster; fail unless all are running and ready",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := interruptible()
			defer stop()
			status, err := lifecycle.GetStatus(ctx, dir)
			if errors.Is(err, state.ErrNone) {
				return fmt.Errorf("no cluster in %s", dir)
			}
			if err != nil {
				return err
			}
			if err := printStatus(command.OutOrStdout(), status); err != nil {
				return err
			}
			if !status.Healthy() {
				return errUnhealthy
			}
			return nil
		},
	}
	addDirFlag(command, &dir)
	return command
}

func printStatus(out io.Writer, status *lifecycle.Status) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tPID\tSTATE")
	for _, component := range status.Components {
		pid := "-"
		if component.Info.PID != 0 {
			pid = fmt.Sprint(component.Info.PID)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", component.Name, pid, describe(component))
	}
	version := status.Version
	if version == "" {
		version = "unknown"
	}
	fmt.Fprintf(table, "\nAPI server:\t%s\nKubeconfig:\t%s\nVersion:\t%s\nNodes ready:\t%d/%d\n",
		status.Cluster.Server(), status.Cluster.AdminKubeconfig(), version, status.NodesReady, len(status.Cluster.Nodes))
	if url := status.Cluster.PrometheusURL(); url != "" {
		fmt.Fprintf(table, "Prometheus:\t%s\n", url)
	}
	return table.Flush()
}

func describe(component lifecycle.ComponentStatus) string {
	switch component.Info.State {
	case process.Absent:
		return "stopped"
	case process.Dead:
		return "dead"
	}
	if component.NotReady != nil {
		return fmt.Sprintf("running, not ready: %v", component.NotReady)
	}
	return "running"
}
