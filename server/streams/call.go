package streams

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/status"
	"k8s.io/klog/v2"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Call is a call that must be able to end even if the caller does not read. The work runs
// in a goroutine of its own. If a send blocks, the handler returns, which ends the send.
// Messages are not passed between goroutines.
type Call struct {
	// SendWithin is the maximum time to send one message.
	SendWithin time.Duration
	// TooSlow is the reason that the call ends with if a send takes longer, and Advice what
	// the caller should do then.
	TooSlow *rpcerror.Reason
	Advice  string
	// Ending is closed when the server shuts down, if the call must end with it; otherwise
	// nil.
	Ending <-chan struct{}

	began time.Time
	// sending is the start of the send in progress, as time since began plus 1 ns; 0 if there
	// is none.
	sending atomic.Int64
}

// Send calls send and makes its duration observable. Only the work calls it.
func (c *Call) Send(send func() error) error {
	c.sending.Store(int64(time.Since(c.began)) + 1)
	defer c.sending.Store(0)
	return send()
}

// left returns how long to wait before checking again. If it is 0 or less, the send in progress
// has taken too long.
func (c *Call) left() time.Duration {
	began := c.sending.Load()
	if began == 0 {
		return c.SendWithin
	}
	return c.SendWithin - (time.Since(c.began) - time.Duration(began-1))
}

func (c *Call) tooSlow(why string) error {
	return rpcerror.New(c.TooSlow, why+"; "+c.Advice)
}

// panicked is the result of work that panicked.
type panicked struct{ cause string }

func (p *panicked) Error() string { return p.cause }

// Run returns when work is done. It returns earlier if a send takes too long, ctx is done or
// the server shuts down. The end of the call ends the send, and with it work, whose context
// is then done.
func (c *Call) Run(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.began = time.Now()
	done := make(chan error, 1)
	var ended atomic.Bool
	defer ended.Store(true)
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				p := &panicked{fmt.Sprintf("%v\n%s", cause, debug.Stack())}
				if ended.Load() {
					klog.FromContext(ctx).Error(p, "Call panicked after it ended")
				}
				done <- p
			}
		}()
		done <- work(ctx)
	}()
	// No send that begins before the next look can be too slow by then.
	look := time.NewTimer(c.left())
	defer look.Stop()
	for {
		select {
		case err := <-done:
			var p *panicked
			if errors.As(err, &p) {
				panic(p.cause) // Counted together with all other panics.
			}
			return err
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		case <-c.Ending:
			return rpcerror.New(rpcerror.ShuttingDown, "the server is shutting down; watch on another replica")
		case <-look.C:
			left := c.left()
			if left <= 0 {
				return c.tooSlow("the client read nothing for " + c.SendWithin.String())
			}
			look.Reset(left)
		}
	}
}
