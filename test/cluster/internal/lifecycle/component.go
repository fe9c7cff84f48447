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
)

const (
	// stopGrace is how long a component that will be started again may take to end after
	// SIGTERM. Without this limit, the API server would wait a minute for its clients.
	stopGrace = 2 * time.Second
	// startTimeout bounds how long a single component may take to become ready.
	startTimeout = time.Minute
)

// StopComponent ends one component and keeps its data. It reports whether the component
// was running.
func StopComponent(ctx context.Context, dir, component string) (bool, error) {
	cluster, unlock, err := lockComponent(ctx, dir, component)
	if err != nil {
		return false, err
	}
	defer unlock()
	return process.Stop(ctx, cluster.PIDFile(component), stopGrace)
}

// StartComponent starts one component again, exactly as when the cluster came up, and
// waits until it is ready. It reports whether the component had to be started.
func StartComponent(ctx context.Context, dir, component string) (bool, error) {
	cluster, unlock, err := lockComponent(ctx, dir, component)
	if err != nil {
		return false, err
	}
	defer unlock()
	kubeconfig, err := os.ReadFile(cluster.AdminKubeconfig())
	if err != nil {
		return false, fmt.Errorf("the cluster has not come up completely: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	starter, ctx, err := newStarter(ctx, cluster, kubeconfig)
	if err != nil {
		return false, err
	}
	defer starter.close()
	since := time.Now()
	if err := starter.start(ctx, component); err != nil {
		if errors.Is(err, process.ErrLocked) {
			return false, nil
		}
		return false, err
	}
	return true, starter.awaitReady(ctx, component, since)
}

func lockComponent(ctx context.Context, dir, component string) (*state.Cluster, func(), error) {
	cluster, err := state.Load(dir)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Contains(cluster.Components(), component) {
		return nil, nil, fmt.Errorf("unknown component %q; the components are %s",
			component, strings.Join(cluster.Components(), ", "))
	}
	unlock, err := lockCluster(ctx, cluster)
	return cluster, unlock, err
}
