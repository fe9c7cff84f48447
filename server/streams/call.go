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

// Call is a call that must be able to end although the caller does not read. No
// message waits for another goroutine: the whole work has one, so that the handler
// can return, which ends a send under way.
type Call struct {
	// SendWithin is how long one message may take.
	SendWithin time.Duration
	// TooSlow is the reason that a call ends with which takes longer, and Advice what
	// the caller is to do then.
	TooSlow *rpcerror.Reason
	Advice  string
	// Ending is closed when the server ends, and the call is to end with it; nil if
	// it is not.
	Ending <-chan struct{}

	began time.Time
	// sending is how long after began the send under way began, and 1 ns more; 0 if
	// there is none.
	sending atomic.Int64
}

// Send calls send and lets it be seen how long that takes. It is for the work.
func (c *Call) Send(send func() error) error {
	c.sending.Store(int64(time.Since(c.began)) + 1)
	defer c.sending.Store(0)
	return send()
}

// left is how long it takes at least until a send has taken too long, not above 0 if
// one has.
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

// panicked is what work ended with instead of an error.
type panicked struct{ cause string }

func (p *panicked) Error() string { return p.cause }

// Run returns when work is done, or before, if a send takes too long, ctx is done or
// the server ends: the end of the call ends the send, and with it work, whose context
// is done then.
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
					klog.FromContext(ctx).Error(p, "Call panicked after its end")
				}
				done <- p
			}
		}()
		done <- work(ctx)
	}()
	// Whatever send begins before the next look is not too slow by then.
	look := time.NewTimer(c.left())
	defer look.Stop()
	for {
		select {
		case err := <-done:
			var p *panicked
			if errors.As(err, &p) {
				panic(p.cause) // It is counted where all panics are.
			}
			return err
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		case <-c.Ending:
			return rpcerror.New(rpcerror.ShuttingDown, "the server ends; go on with another one")
		case <-look.C:
			left := c.left()
			if left <= 0 {
				return c.tooSlow("nothing was read for " + c.SendWithin.String())
			}
			look.Reset(left)
		}
	}
}
