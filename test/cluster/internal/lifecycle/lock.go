package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/process"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// lockTimeout bounds how long a command waits for another one that changes the
// same cluster; a cluster that comes up takes the longest.
const lockTimeout = upTimeout

// lockCluster makes sure that one command at a time changes a cluster. The lock
// is held until the returned function is called.
func lockCluster(ctx context.Context, cluster *state.Cluster) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		file, err := process.Lock(cluster.CommandLock())
		switch {
		case err == nil && isAt(file, cluster.CommandLock()):
			return func() { file.Close() }, nil
		case err == nil:
			// The command before removed the cluster, and the lock with it.
			file.Close()
		case !errors.Is(err, process.ErrLocked):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another command that works in %s: %w", cluster.Dir, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// isAt says whether the open file is still the one that the path names.
func isAt(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	present, err := os.Stat(path)
	return err == nil && os.SameFile(opened, present)
}
