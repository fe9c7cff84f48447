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

// lockTimeout bounds how long a command waits for another one that changes the same
// cluster. Bringing a cluster up takes longest.
const lockTimeout = upTimeout

// lockCluster ensures that only one command at a time changes a cluster. The lock is held
// until the returned function is called.
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
			// The previous command removed the cluster, including the lock file.
			file.Close()
		case !errors.Is(err, process.ErrLocked):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another command that uses %s: %w", cluster.Dir, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// isAt reports whether the path still names the open file.
func isAt(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	present, err := os.Stat(path)
	return err == nil && os.SameFile(opened, present)
}
