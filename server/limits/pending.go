package limits

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

const (
	// firstMessageWithin is how long the first message of a call may take to arrive.
	firstMessageWithin = 10 * time.Second
	// mostPending is how many calls may wait for their first message at a time. Each buffers
	// up to MessageBytes.
	mostPending = 4096
	// mostPendingAnonymous is how many of them may be of callers that are not known, and
	// mostPendingPerCaller how many of them one caller may have.
	mostPendingAnonymous = mostPending / 16
	mostPendingPerCaller = mostPending / 4
	// sweepEvery is how often calls are canceled whose first message is late.
	sweepEvery = time.Second
)

// Pending bounds the calls that wait for their first message. gRPC buffers it before any
// interceptor runs, so without this, callers could fill the memory with messages that never
// end. A new call is always let in: if there are too many, the caller with the most loses its
// oldest one.
type Pending struct {
	mu sync.Mutex
	// anonymous has the calls of callers that are not known, by address, and known the others by
	// caller.
	anonymous, known *fair.Pool[*pendingCall]
	// sweeping is set while a timer for the next sweep runs.
	sweeping bool
}

// NewPending returns a Pending without calls.
func NewPending() *Pending {
	return &Pending{
		anonymous: fair.NewPool[*pendingCall](fair.Limits{All: mostPendingAnonymous}),
		known:     fair.NewPool[*pendingCall](fair.Limits{All: mostPending - mostPendingAnonymous, PerAccount: mostPendingPerCaller}),
	}
}

// errLate and errEvicted are why calls end whose first message does not arrive.
var (
	errLate    = rpcerror.New(rpcerror.MessageLate, "the request did not arrive within "+firstMessageWithin.String()+" of the call: send it immediately")
	errEvicted = tooMany(rpcerror.TooManyPending, "too many calls were waiting for their requests to arrive, and this one gave way", time.Second)
)

// pendingCall is the context of a call whose first message has not arrived.
type pendingCall struct {
	context.Context
	share  fair.Share[*pendingCall]
	cancel context.CancelCauseFunc
	of     *Pending
	// late is when the first message is late; zero while nobody waits for it.
	late time.Time
}

type pendingKey struct{}

// Value implements context.Context.
func (c *pendingCall) Value(key any) any {
	if key == (pendingKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// Enter counts a call whose headers have arrived, of a caller that is zero if it is unknown.
// It returns a context that is canceled if the first message does not arrive in time.
func (p *Pending) Enter(ctx context.Context, caller fair.Key) context.Context {
	call := &pendingCall{of: p, late: time.Now().Add(firstMessageWithin)}
	call.share.Value = call
	call.Context, call.cancel = context.WithCancelCause(ctx)
	pool := p.known
	if caller == (fair.Key{}) {
		pool, caller = p.anonymous, anonymousAt(from(ctx))
	}
	p.mu.Lock()
	evicted := pool.Insert(&call.share, caller)
	if !p.sweeping {
		p.sweeping = true
		time.AfterFunc(sweepEvery, p.sweep)
	}
	p.mu.Unlock()
	if evicted != nil {
		evicted.Value.cancel(errEvicted)
	}
	return call
}

// from returns the remote address of a call, if it has one.
func from(ctx context.Context) net.Addr {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr
	}
	return nil
}

// sweep cancels the calls that are late, and forgets those that have ended. It repeats itself
// while there are calls.
func (p *Pending) sweep() {
	now := time.Now()
	var late []*pendingCall
	p.mu.Lock()
	for _, pool := range []*fair.Pool[*pendingCall]{p.anonymous, p.known} {
		for share := range pool.Shares() {
			switch call := share.Value; {
			case call.Err() != nil:
				share.Release()
			case !call.late.IsZero() && now.After(call.late):
				share.Release()
				late = append(late, call)
			}
		}
	}
	if p.sweeping = p.held() > 0; p.sweeping {
		time.AfterFunc(sweepEvery, p.sweep)
	}
	p.mu.Unlock()
	for _, call := range late {
		call.cancel(errLate)
	}
}

// held returns how many calls wait. p.mu must be held.
func (p *Pending) held() int {
	return p.anonymous.Held(fair.All, fair.Key{}) + p.known.Held(fair.All, fair.Key{})
}

// arrived notes that the first message of a call is here.
func arrived(ctx context.Context) {
	if call, ok := ctx.Value(pendingKey{}).(*pendingCall); ok {
		call.of.mu.Lock()
		call.share.Release()
		call.of.mu.Unlock()
	}
}

// awaited sets whether the server waits for the first message of a call, and not for others.
func awaited(ctx context.Context, yes bool) {
	call, ok := ctx.Value(pendingKey{}).(*pendingCall)
	if !ok {
		return
	}
	call.of.mu.Lock()
	defer call.of.mu.Unlock()
	call.late = time.Time{}
	if yes {
		call.late = time.Now().Add(firstMessageWithin)
	}
}

// Unary notes that the request of a call has arrived. It must be the first interceptor.
func (p *Pending) Unary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	arrived(ctx)
	return handler(ctx, request)
}

// Stream notes when the first request of a stream arrives. It must come right after the
// refusals of tap: the other interceptors run before the request is received, and their time is
// not the caller's fault.
func (p *Pending) Stream(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	awaited(stream.Context(), false)
	err := handler(service, &pendingStream{ServerStream: stream})
	arrived(stream.Context())
	return Cause(stream.Context(), err)
}

// Cause returns why a limit of this package canceled ctx, if one did and err is not nil;
// otherwise err.
func Cause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && (errors.Is(cause, errLate) || errors.Is(cause, errEvicted)) {
		return cause
	}
	return err
}

type pendingStream struct {
	grpc.ServerStream
	begun bool
}

// RecvMsg implements grpc.ServerStream.
func (s *pendingStream) RecvMsg(message any) error {
	if s.begun {
		return s.ServerStream.RecvMsg(message)
	}
	s.begun = true
	awaited(s.Context(), true)
	err := s.ServerStream.RecvMsg(message)
	// Also at the end of a stream without messages.
	arrived(s.Context())
	return err
}
