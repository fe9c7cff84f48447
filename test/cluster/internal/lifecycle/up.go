package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/process"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/work"
)

// upTimeout bounds how long a cluster may take to come up.
const upTimeout = 3 * time.Minute

// Options describe the cluster to bring up.
type Options struct {
	Dir   string
	Nodes []state.Node
	// NodeCPU is in whole cores, NodeMemory in bytes, both per node.
	NodeCPU    int
	NodeMemory int64
	NodeLabel  string
	// ControlPlane is as in state.Cluster.
	ControlPlane string
	// AuditPolicy is as in state.Cluster.
	AuditPolicy string
	// Work is as in state.Cluster. WorkStart is what the clock of the work shows when the
	// cluster comes up, zero for the real time, and TimeScale is how many times faster it is.
	Work      []work.Rule
	WorkStart time.Time
	TimeScale float64
	// MetricsServer and Prometheus are as in state.Cluster.
	MetricsServer string
	Prometheus    string
	// Port is the API server's port, 0 for any free port.
	Port int
	// OwnerPID is the process that the cluster must not outlive, 0 for none.
	OwnerPID int
	// Progress receives progress messages.
	Progress func(format string, arguments ...any)
}

// Up brings a cluster up and returns it when everything is ready. If it fails, it ends
// every process that it started but keeps the files, including the logs, unless the
// context was canceled. Up first cleans up a leftover cluster in the same directory. A
// working cluster there is an error.
func Up(ctx context.Context, options Options) (*state.Cluster, error) {
	cluster, err := newCluster(options)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cluster.Dir, 0o700); err != nil {
		return nil, err
	}
	unlock, err := lockCluster(ctx, cluster)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := clearLeftover(ctx, cluster.Dir, options.Progress); err != nil {
		return nil, err
	}
	ports, err := reservePorts(options.Port, cluster)
	if err != nil {
		return nil, errors.Join(err, cluster.RemoveLock())
	}
	defer ports.releaseAll()
	cluster.Ports = ports.ports
	if err := cluster.Create(); err != nil {
		return nil, errors.Join(err, cluster.RemoveLock())
	}

	err = bringUp(ctx, cluster, ports, options.Progress)
	if err == nil {
		return cluster, nil
	}
	// Clean up even if the context is what failed.
	cleanup := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		// The error is only a consequence of the interruption.
		if err := remove(cleanup, cluster); err != nil {
			return nil, fmt.Errorf("interrupted (%w); clean up %s: %w", context.Cause(ctx), cluster.Dir, err)
		}
		return nil, fmt.Errorf("interrupted (%w) and cleaned up: the cluster in %s is removed", context.Cause(ctx), cluster.Dir)
	}
	return nil, errors.Join(err, endAll(cleanup, cluster))
}

func newCluster(options Options) (*state.Cluster, error) {
	dir, err := state.AbsoluteDir(options.Dir)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	cluster := &state.Cluster{
		Dir:        dir,
		Nodes:      slices.Clone(options.Nodes),
		NodeCPU:    options.NodeCPU,
		NodeMemory: options.NodeMemory,
		NodeLabel:  options.NodeLabel,

		ControlPlane: options.ControlPlane,
		AuditPolicy:  options.AuditPolicy,

		Work:  options.Work,
		Clock: work.Clock{Wall: now, Shows: now, Scale: options.TimeScale},

		MetricsServer: options.MetricsServer,
		Prometheus:    options.Prometheus,
	}
	if !options.WorkStart.IsZero() {
		cluster.Clock.Shows = options.WorkStart
	}
	if options.OwnerPID != 0 {
		if cluster.Owner, err = state.FindOwner(options.OwnerPID); err != nil {
			return nil, err
		}
	}
	return cluster, nil
}

// bringUp starts the components of a cluster whose directory is prepared.
func bringUp(ctx context.Context, cluster *state.Cluster, ports *reservation, progress func(string, ...any)) error {
	kubeconfig, err := writeCredentials(cluster)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, upTimeout)
	defer cancel()
	starter, ctx, err := newStarter(ctx, cluster, kubeconfig)
	if err != nil {
		return err
	}
	defer starter.close()
	if starter.owner != nil {
		go func() {
			if err := process.WaitOwner(int(starter.owner.Fd())); err == nil {
				starter.fail(errors.New("the owner process has ended"))
			}
		}()
	}

	// Each stage depends on the previous one. The API server itself waits for etcd.
	stages := [][]string{{state.Etcd, state.APIServer}, cluster.Components()[2:]}
	for _, stage := range stages {
		for _, component := range stage {
			ports.release(component)
			if err := starter.start(ctx, component); err != nil {
				return err
			}
		}
		for _, component := range stage {
			if err := starter.awaitReady(ctx, component, time.Time{}); err != nil {
				return err
			}
			progress("%s is ready", component)
		}
	}
	// The kubeconfig comes last: where it exists, the cluster is complete.
	return os.WriteFile(cluster.AdminKubeconfig(), kubeconfig, 0o600)
}

// clearLeftover removes the remains of a cluster that crashed or never came up
// completely. A working cluster is an error.
func clearLeftover(ctx context.Context, dir string, progress func(string, ...any)) error {
	old, err := state.Load(dir)
	if errors.Is(err, state.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	var running, dead []string
	for _, component := range old.Components() {
		info, err := process.Find(old.PIDFile(component))
		if err != nil {
			return err
		}
		switch info.State {
		case process.Running:
			running = append(running, component)
		case process.Dead:
			dead = append(dead, component)
		}
	}
	_, err = os.Stat(old.AdminKubeconfig())
	complete := err == nil
	if complete && len(dead) == 0 && len(running) > 0 {
		return fmt.Errorf("a cluster is already running in %s; to stop it, run: testcluster down --dir %s", old.Dir, old.Dir)
	}
	progress("found a leftover cluster in %s (dead: %s; still running: %s); stopping and removing it",
		old.Dir, listOrNone(dead), listOrNone(running))
	if err := endAll(ctx, old); err != nil {
		return err
	}
	return old.RemoveFiles()
}

func listOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
