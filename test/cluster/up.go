package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/version"
	componentversion "k8s.io/component-base/version"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/lifecycle"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

const maxPort = 65535

// minNodeMemory is enough for the node's own processes and a few small pods; with less, no
// container would survive.
var minNodeMemory = resource.MustParse("256Mi")

func newUpCommand() *cobra.Command {
	var options lifecycle.Options
	var nodes, memory, workStart string
	var declarations []string
	command := &cobra.Command{
		Use:   "up --dir DIR",
		Short: "Bring up a cluster and wait until it is ready",
		Long: `Bring up a cluster and wait until it is ready.

The only line on stdout is the path of the kubeconfig. The cluster keeps running
until it is taken down, or until its owner ends.

Nodes can have options, which follow the count, each after a colon. If a type is
listed again with other options, its numbering continues.

  cpu-manager=static  the kubelet refuses to change the CPUs of Guaranteed pods
  kubelet=VERSION     the kubelet reports this older version and has only its
                      default features, but runs the code of the cluster's version
  speed=FACTOR        the cores are this many times as fast as those for which
                      work is declared, so that work needs fewer of them
  taint=KEY           the kubelet registers the node with this taint, which keeps
                      pods out until somebody removes it

` + workHelp,
		Example: `  testcluster up --dir /tmp/c --nodes n2d=2,n4=2,c3=2
  testcluster up --dir /tmp/c --nodes n4=1,=1 --node-cpu 4 --node-memory 8Gi --owner $$
  testcluster up --dir /tmp/c --nodes n4=2,n4=1:cpu-manager=static,c3=1:kubelet=1.33.13
  testcluster up --dir /tmp/c --nodes n2d=1,n4=1:speed=1.25 --metrics-server bin/metrics-server \
    --prometheus bin/prometheus --work 'shop/web-*/app={cpu: 250m, memory: 1Gi}'`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := complete(&options, nodes, memory); err != nil {
				return err
			}
			if err := completeWork(&options, declarations, workStart); err != nil {
				return err
			}
			begin := time.Now()
			options.Progress = func(format string, arguments ...any) {
				fmt.Fprintf(command.ErrOrStderr(), "%5.1fs  %s\n", time.Since(begin).Seconds(), fmt.Sprintf(format, arguments...))
			}
			ctx, stop := interruptible()
			defer stop()
			cluster, err := lifecycle.Up(ctx, options)
			if err != nil {
				return err
			}
			fmt.Fprintln(command.OutOrStdout(), cluster.AdminKubeconfig())
			return nil
		},
	}
	addDirFlag(command, &options.Dir)
	flags := command.Flags()
	flags.StringVar(&nodes, "nodes", "", "nodes as TYPE=COUNT[:OPTION]…,…, named TYPE-0, TYPE-1, …; an empty TYPE creates nodes without a type, named node-0, … (default: only the control plane)")
	flags.IntVar(&options.NodeCPU, "node-cpu", 8, "cores of each node")
	flags.StringVar(&memory, "node-memory", "32Gi", "memory of each node")
	flags.StringVar(&options.NodeLabel, "node-label", "cloud.google.com/machine-family", "key of the label that holds a node's type")
	flags.StringVar(&options.ControlPlane, "control-plane", "", "directory with the kube-apiserver, kube-controller-manager and kube-scheduler programs to run, for example of another version; only without nodes (default: the built-in programs)")
	flags.StringVar(&options.AuditPolicy, "audit-policy", "", "file with the API server's audit policy; the log is logs/audit.log in the cluster's directory (default: nothing is audited)")
	flags.StringArrayVar(&declarations, "work", nil, "work of containers that have no annotation, as NAMESPACE/POD/CONTAINER=WORK; * stands for any part of a name, the first match counts, and @FILE reads the work from a file")
	flags.StringVar(&workStart, "work-start", "", "time that the clock of the work shows when the cluster comes up, as 2026-01-05T00:00:00Z (default: the real time)")
	flags.Float64Var(&options.TimeScale, "time-scale", 1, "how many times faster the clock of the work is")
	flags.StringVar(&options.MetricsServer, "metrics-server", "", "the metrics-server program to run, which serves metrics.k8s.io (default: none)")
	flags.StringVar(&options.Prometheus, "prometheus", "", "the Prometheus program to run, which scrapes the nodes; status shows its URL (default: none)")
	flags.IntVar(&options.Port, "port", 0, "port of the API server, 0 for any free port")
	flags.IntVar(&options.OwnerPID, "owner", 0, "pid of a process that the cluster must not outlive, 0 for none")
	return command
}

// complete parses and validates the flags.
func complete(options *lifecycle.Options, nodes, memory string) error {
	var err error
	// The version of the API server, and of a kubelet that does not emulate another one.
	kubernetes := version.MustParseGeneric(componentversion.Get().GitVersion)
	if options.Nodes, err = state.ParseNodes(nodes, kubernetes); err != nil {
		return err
	}
	quantity, err := resource.ParseQuantity(memory)
	if err != nil {
		return fmt.Errorf("--node-memory %q: %w", memory, err)
	}
	options.NodeMemory = quantity.Value()
	if quantity.Cmp(minNodeMemory) < 0 {
		return fmt.Errorf("--node-memory %s: a node needs at least %s", memory, minNodeMemory.String())
	}
	if options.NodeCPU < 1 {
		return fmt.Errorf("--node-cpu %d: a node needs at least one core", options.NodeCPU)
	}
	if err := state.CheckNodeLabel(options.NodeLabel); err != nil {
		return fmt.Errorf("--node-label %q: %w", options.NodeLabel, err)
	}
	if err := completeControlPlane(options); err != nil {
		return fmt.Errorf("--control-plane %s: %w", options.ControlPlane, err)
	}
	if options.AuditPolicy != "" {
		if _, err := os.Stat(options.AuditPolicy); err != nil {
			return fmt.Errorf("--audit-policy: %w", err)
		}
		if options.AuditPolicy, err = filepath.Abs(options.AuditPolicy); err != nil {
			return fmt.Errorf("--audit-policy: %w", err)
		}
	}
	if err := completeProgram(&options.MetricsServer); err != nil {
		return fmt.Errorf("--metrics-server: %w", err)
	}
	if err := completeProgram(&options.Prometheus); err != nil {
		return fmt.Errorf("--prometheus: %w", err)
	}
	if options.Port < 0 || options.Port > maxPort {
		return fmt.Errorf("--port %d: not between 0 and %d", options.Port, maxPort)
	}
	if options.OwnerPID != 0 {
		if _, err := state.FindOwner(options.OwnerPID); err != nil {
			return fmt.Errorf("--owner %d: not a live process: %w", options.OwnerPID, err)
		}
	}
	return nil
}

// completeProgram makes the path of a program absolute, if one is given.
func completeProgram(program *string) error {
	if *program == "" {
		return nil
	}
	found, err := exec.LookPath(*program)
	if err != nil {
		return err
	}
	*program, err = filepath.Abs(found)
	return err
}

// completeControlPlane rejects nodes with a control plane of a different version: a
// kubelet may be older than the API server, never newer.
func completeControlPlane(options *lifecycle.Options) error {
	if options.ControlPlane == "" {
		return nil
	}
	if len(options.Nodes) > 0 {
		return errors.New("the built-in kubelets may not match its version; omit --nodes")
	}
	var err error
	if options.ControlPlane, err = filepath.Abs(options.ControlPlane); err != nil {
		return err
	}
	for _, component := range []string{state.APIServer, state.ControllerManager, state.Scheduler} {
		if _, err := exec.LookPath(filepath.Join(options.ControlPlane, component)); err != nil {
			return err
		}
	}
	return nil
}
