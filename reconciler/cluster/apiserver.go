package cluster

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// learnServer reads the API server's version, which determines what it allows, and
// retries until it succeeds. It fails only when ctx is done.
func (c *Cluster) learnServer(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	last := ""
	return wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		v, err := c.serverVersion(ctx)
		if err != nil {
			c.unread.Store(&err)
			if err.Error() != last {
				logger.Error(err, "API server unavailable; retrying")
				last = err.Error()
			}
			return false, nil
		}
		c.unread.Store(nil)
		c.Planner.KeepMemoryLimits = v.LessThan(plan.MemoryLimitsShrink)
		logger.Info("Connected to the API server", "version", v.String(), "memoryLimitsShrink", !c.Planner.KeepMemoryLimits)
		return true, nil
	})
}

// versionTimeout limits one attempt: an API server may accept a connection and never
// respond.
const versionTimeout = 5 * time.Second

func (c *Cluster) serverVersion(ctx context.Context) (*version.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	info, err := c.Client.Discovery().ServerVersionWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the API server's version: %w", err)
	}
	v, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		return nil, fmt.Errorf("read the API server's version: %w", err)
	}
	return v, nil
}
