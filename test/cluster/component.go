package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/lifecycle"
)

const componentHelp = `

The components are etcd, kube-apiserver, kube-controller-manager,
kube-scheduler, node-NAME for each node, and metrics-server and prometheus if
the cluster was brought up with them.`

func newStopCommand() *cobra.Command {
	var dir string
	command := &cobra.Command{
		Use:   "stop --dir DIR COMPONENT",
		Short: "Stop one component of a cluster",
		Long:  "Stop one component of a cluster and keep its data." + componentHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			ctx, stop := interruptible()
			defer stop()
			wasRunning, err := lifecycle.StopComponent(ctx, dir, arguments[0])
			if err != nil {
				return err
			}
			if !wasRunning {
				fmt.Fprintf(command.ErrOrStderr(), "%s is not running\n", arguments[0])
			}
			return nil
		},
	}
	addDirFlag(command, &dir)
	return command
}

func newStartCommand() *cobra.Command {
	var dir string
	command := &cobra.Command{
		Use:   "start --dir DIR COMPONENT",
		Short: "Start a stopped component again and wait until it is ready",
		Long:  "Start a stopped component of a cluster again, as it was started before, and wait until it is ready." + componentHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			ctx, stop := interruptible()
			defer stop()
			started, err := lifecycle.StartComponent(ctx, dir, arguments[0])
			if err != nil {
				return err
			}
			if !started {
				fmt.Fprintf(command.ErrOrStderr(), "%s is already running\n", arguments[0])
			}
			return nil
		},
	}
	addDirFlag(command, &dir)
	return command
}
