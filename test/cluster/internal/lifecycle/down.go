package lifecycle

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/process"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// endGrace is how long a component may take to end after SIGTERM when its cluster is
// removed.
const endGrace = time.Second

// Down ends a cluster and removes its files. It reports whether the cluster existed.
func Down(ctx context.Context, dir string) (bool, error) {
	cluster, err := state.Load(dir)
	if errors.Is(err, state.ErrNone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	unlock, err := lockCluster(ctx, cluster)
	if err != nil {
		return false, err
	}
	defer unlock()
	// Another command may have changed or removed the cluster meanwhile.
	cluster, err = state.Load(dir)
	if errors.Is(err, state.ErrNone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, remove(ctx, cluster)
}

// remove ends a cluster and removes its files. The caller holds its lock.
func remove(ctx context.Context, cluster *state.Cluster) error {
	if err := endAll(ctx, cluster); err != nil {
		return err
	}
	return cluster.Remove()
}

// endAll ends all running components, dependents first.
func endAll(ctx context.Context, cluster *state.Cluster) error {
	components := cluster.Components()
	for _, stage := range [][]string{components[4:], components[2:4], components[1:2], components[:1]} {
		if err := endStage(ctx, cluster, stage); err != nil {
			return err
		}
	}
	return nil
}

func endStage(ctx context.Context, cluster *state.Cluster, components []string) error {
	errs := make([]error, len(components))
	var group sync.WaitGroup
	for i, component := range components {
		group.Go(func() {
			_, errs[i] = process.Stop(ctx, cluster.PIDFile(component), endGrace)
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
