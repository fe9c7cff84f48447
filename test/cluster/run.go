package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/controlplane"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/monitoring"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/node"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/process"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

const (
	// ownGrace is how long a component may take to end after its owner has ended.
	ownGrace = 3 * time.Second
	// tidyTimeout bounds how long etcd waits for the cluster to be taken down
	// once its owner has ended.
	tidyTimeout = time.Minute
)

// newRunCommand returns the command with which this program starts itself for each
// component.
func newRunCommand() *cobra.Command {
	var dir string
	var owned bool
	command := &cobra.Command{
		Use:    "run --dir DIR COMPONENT",
		Short:  "Run one component of a cluster",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, arguments []string) error {
			cluster, err := state.Load(dir)
			if err != nil {
				return err
			}
			if err := process.Adopt(cluster.PIDFile(arguments[0])); err != nil {
				return fmt.Errorf("run is internal to testcluster; use up or start: %w", err)
			}
			if owned {
				process.AdoptOwner()
				go endWithOwner(cluster, arguments[0])
			}
			return run(cluster, arguments[0])
		},
	}
	addDirFlag(command, &dir)
	command.Flags().BoolVar(&owned, "owned", false, "end with the process of the inherited pidfd")
	return command
}

func run(cluster *state.Cluster, component string) error {
	if programs := cluster.ControlPlane; programs != "" {
		if arguments := controlplane.Arguments(cluster, component); arguments != nil {
			return process.Delegate(filepath.Join(programs, component), arguments...)
		}
	}
	switch component {
	case state.MetricsServer:
		return runMetricsServer(cluster)
	case state.Prometheus:
		arguments, err := monitoring.WritePrometheusConfig(cluster)
		if err != nil {
			return err
		}
		return process.Delegate(cluster.Prometheus, arguments...)
	case state.APIServer:
		return controlplane.RunAPIServer(cluster)
	case state.ControllerManager:
		return controlplane.RunControllerManager(cluster)
	case state.Scheduler:
		return controlplane.RunScheduler(cluster)
	}
	// The components above insist on handling signals themselves.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if component == state.Etcd {
		return controlplane.RunEtcd(ctx, cluster)
	}
	if machine, found := cluster.NodeOf(component); found {
		return node.Run(ctx, cluster, machine)
	}
	return fmt.Errorf("unknown component %q", component)
}

// runMetricsServer runs metrics-server and registers its API meanwhile.
func runMetricsServer(cluster *state.Cluster) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		if err := monitoring.Register(ctx, cluster); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return process.Delegate(cluster.MetricsServer, monitoring.MetricsServerArguments(cluster)...)
}

// endWithOwner waits until the owner ends and then ends this component. Every component
// does so. etcd, which all others need to end properly, instead takes the whole cluster
// down, which ends etcd itself and removes the files.
func endWithOwner(cluster *state.Cluster, component string) {
	if err := process.WaitOwner(process.OwnerFD); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Fprintln(os.Stderr, "the owner has ended")
	grace := ownGrace
	if component == state.Etcd && takeDown(cluster.Dir) == nil {
		grace = tidyTimeout
	} else if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	time.AfterFunc(grace, func() { os.Exit(1) })
}

func takeDown(dir string) error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	down := exec.Command(executable, "down", "--dir", dir)
	down.Dir = "/"
	down.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return down.Start()
}
