package server

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

// sending is a stream whose handler sends much and must be able to end although
// the caller does not read. Unlike with an outbox, no message waits for another
// goroutine.
type sending struct {
	// since is when the send under way began, in Unix nanoseconds; 0 if there is
	// none.
	since atomic.Int64
}

// note calls send and lets it be seen how long that takes.
func (s *sending) note(send func() error) error {
	s.since.Store(time.Now().UnixNano())
	defer s.since.Store(0)
	return send()
}

// slow tells whether a send has been under way for longer than within.
func (s *sending) slow(within time.Duration) bool {
	since := s.since.Load()
	return since != 0 && time.Since(time.Unix(0, since)) > within
}

// panicked is what work ended with instead of an error.
type panicked struct{ cause string }

func (p *panicked) Error() string { return p.cause }

// run returns when work is done, or before, if a send takes longer than within or
// ctx is done: the end of the call ends the send, and with it work.
func (s *sending) run(ctx context.Context, within time.Duration, work func() error) error {
	done := make(chan error, 1)
	var left atomic.Bool
	defer left.Store(true)
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				p := &panicked{fmt.Sprintf("%v\n%s", cause, debug.Stack())}
				if left.Load() {
					klog.FromContext(ctx).Error(p, "Call panicked after its end")
				}
				done <- p
			}
		}()
		done <- work()
	}()
	ticker := time.NewTicker(within / 4)
	defer ticker.Stop()
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
		case <-ticker.C:
			if s.slow(within) {
				return rpcerror.New(rpcerror.PreviewTooSlow, "nothing was read for "+within.String()+"; ask again, and read as it comes")
			}
		}
	}
}
