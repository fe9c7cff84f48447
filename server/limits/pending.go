package limits

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

const (
	// firstMessageWithin is how long the first message of a call may take to arrive.
	firstMessageWithin = 10 * time.Second
	// mostPending is how many calls may wait for their first message at a time. Each buffers
	// up to MessageBytes.
	mostPending = 4096
	// mostPendingStrangers is how many of them may be calls of strangers, and
	// mostPendingPerCaller how many those of one caller.
	mostPendingStrangers = mostPending / 16
	mostPendingPerCaller = mostPending / 4
)

// Pending bounds the calls that wait for their first message. gRPC buffers it before any
// interceptor runs, so without this, callers could fill the memory with messages that never
// end.
type Pending struct {
	mu    sync.Mutex
	calls int
	// byCaller counts the calls of each caller; "" is strangers.
	byCaller map[string]int
}

// errLate is why a call ends whose first message does not arrive.
var errLate = rpcerror.New(rpcerror.MessageLate, "the request did not arrive within "+firstMessageWithin.String()+" of the call: send it at once")

// Enter counts a call whose headers have arrived, of a caller that is empty if it is unknown.
// It returns a context that is canceled if the first message does not arrive in time, or an
// error if too many calls are pending.
func (p *Pending) Enter(ctx context.Context, caller string) (context.Context, error) {
	most := mostPendingPerCaller
	if caller == "" {
		most = mostPendingStrangers
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls >= mostPending || p.byCaller[caller] >= most {
		return ctx, tooMany(rpcerror.TooManyPending, "too many calls wait for their request to arrive", time.Second)
	}
	if p.byCaller == nil {
		p.byCaller = map[string]int{}
	}
	p.calls++
	p.byCaller[caller]++
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(firstMessageWithin, func() { cancel(errLate) })
	leave := sync.OnceFunc(func() {
		late.Stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.calls--
		if p.byCaller[caller]--; p.byCaller[caller] == 0 {
			delete(p.byCaller, caller)
		}
	})
	// gRPC ends the context of each call.
	stop := context.AfterFunc(ctx, leave)
	return context.WithValue(ctx, pendingKey{}, pendingCall{leave, stop}), nil
}

type pendingKey struct{}

// pendingCall is a call whose first message has not arrived.
type pendingCall struct {
	leave func()
	// stop prevents leave at the end of the call, which would cost a goroutine.
	stop func() bool
}

// arrived notes that the first message of a call is here.
func arrived(ctx context.Context) {
	if call, ok := ctx.Value(pendingKey{}).(pendingCall); ok {
		call.leave()
		call.stop()
	}
}

// Unary notes that the request of a call has arrived. It must be the first interceptor.
func (p *Pending) Unary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	arrived(ctx)
	return handler(ctx, request)
}

// Stream notes when the first request of a stream arrives. It must be the first interceptor.
func (p *Pending) Stream(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	err := handler(service, &pendingStream{ServerStream: stream})
	if err != nil && errors.Is(context.Cause(stream.Context()), errLate) {
		return errLate
	}
	return err
}

type pendingStream struct {
	grpc.ServerStream
	begun bool
}

// RecvMsg implements grpc.ServerStream.
func (s *pendingStream) RecvMsg(message any) error {
	err := s.ServerStream.RecvMsg(message)
	if !s.begun {
		// Also at the end of a stream without messages.
		arrived(s.Context())
		s.begun = true
	}
	return err
}
