package reconciler

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/util/flowcontrol"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// throttle is a limiter whose rate a test can change.
type throttle struct {
	flowcontrol.RateLimiter
	now atomic.Pointer[flowcontrol.RateLimiter]
}

func (l *throttle) set(qps float32) { l.use(actuate.NewLimiter(qps, 1)) }

func (l *throttle) use(limiter flowcontrol.RateLimiter) { l.now.Store(&limiter) }

func (l *throttle) Wait(ctx context.Context) error { return (*l.now.Load()).Wait(ctx) }

// gate is a limiter that blocks all requests until it is opened.
type gate struct {
	flowcontrol.RateLimiter
	waiting atomic.Int64
	opened  chan struct{}
}

func newGate() *gate { return &gate{opened: make(chan struct{})} }

func (g *gate) Wait(ctx context.Context) error {
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	select {
	case <-g.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitWaiting waits until every worker has a write that waits at the gate.
func (g *gate) awaitWaiting(t *testing.T) {
	t.Helper()
	localcluster.Eventually(t, "all workers to wait for their turn", func() error {
		if got := g.waiting.Load(); got != replicaWorkers {
			return fmt.Errorf("%d wait", got)
		}
		return nil
	})
}
