package server

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"google.golang.org/grpc/status"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// outbox sends the messages of a stream, one after the other, so that the handler
// can return although the caller does not read: that ends a send under way. A panic
// of a send is one of the handler, where it is dealt with as that of any call.
type outbox[M any] struct {
	messages chan *M
	results  chan result
	// within is how long one message may take.
	within time.Duration
	// ending is closed when the server ends.
	ending <-chan struct{}
}

// newOutbox starts an outbox that close ends.
func newOutbox[M any](send func(*M) error, within time.Duration, ending <-chan struct{}) *outbox[M] {
	// Nobody may be there for the last result.
	o := &outbox[M]{messages: make(chan *M), results: make(chan result, 1), within: within, ending: ending}
	go func() {
		for m := range o.messages {
			o.results <- try(send, m)
		}
	}()
	return o
}

// result is what came of a send.
type result struct {
	err error
	// panicked is why it panicked, with the stack; empty if it did not.
	panicked string
}

// try sends a message.
func try[M any](send func(*M) error, m *M) (r result) {
	defer func() {
		if cause := recover(); cause != nil {
			r.panicked = fmt.Sprintf("send: %v\n%s", cause, debug.Stack())
		}
	}()
	return result{err: send(m)}
}

// send returns when the message is on its way. The error, a gRPC status error,
// must end the call.
func (o *outbox[M]) send(ctx context.Context, m *M) error {
	o.messages <- m
	late := time.NewTimer(o.within)
	defer late.Stop()
	select {
	case r := <-o.results:
		if r.panicked != "" {
			panic(r.panicked)
		}
		return r.err
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	case <-o.ending:
		return errEnding()
	case <-late.C:
		return errTooSlow("nothing was read for " + o.within.String())
	}
}

func (o *outbox[M]) close() { close(o.messages) }

func errEnding() error {
	return rpcerror.New(rpcerror.ShuttingDown, "the server ends; go on with another one")
}

func errTooSlow(why string) error {
	return rpcerror.New(rpcerror.WatchTooSlow, why+"; go on from the last token")
}
