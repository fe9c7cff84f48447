package reconciler

import (
	"context"
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// learnServer finds out what this version of the API server allows, and tries
// until it knows; the error is that ctx is done.
func (r *Reconciler) learnServer(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	last := ""
	return wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		v, err := r.serverVersion(ctx)
		if err != nil {
			r.unread.Store(&err)
			if err.Error() != last {
				logger.Error(err, "API server cannot be used, waiting for it")
				last = err.Error()
			}
			return false, nil
		}
		r.unread.Store(nil)
		r.Planner.KeepMemoryLimits = v.LessThan(plan.MemoryLimitsShrink)
		logger.Info("API server", "version", v.String(), "memoryLimitsShrink", !r.Planner.KeepMemoryLimits)
		return true, nil
	})
}

// versionTimeout bounds one try; the server may accept and never answer.
const versionTimeout = 5 * time.Second

func (r *Reconciler) serverVersion(ctx context.Context) (*version.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	info, err := r.Client.Discovery().ServerVersionWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the API server's version: %w", err)
	}
	v, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		return nil, fmt.Errorf("read the API server's version: %w", err)
	}
	return v, nil
}
