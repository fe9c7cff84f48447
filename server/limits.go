package server

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"k8s.io/utils/lru"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Limits are what callers can ask for. 0 is no limit.
type Limits struct {
	// CallsPerSecond is how many calls one caller may begin per second on
	// average, and CallBurst in one go. Callers that are Local have no such
	// limit, and of those that are bound to a node each node is one: node agents
	// all have the same account.
	CallsPerSecond float64
	CallBurst      int
	// Previews is how many streams of plans and manifests are worked on at once, of
	// all callers; of one caller half as many. As many changes of ratios are worked
	// on that are only checked.
	Previews int
	// WatchesPerCaller is how many watches one caller may have.
	WatchesPerCaller int
	// StreamsPerConnection is how many calls may be open on one connection.
	StreamsPerConnection uint32
}

// DefaultLimits are generous for people and programs that behave.
var DefaultLimits = Limits{CallsPerSecond: 50, CallBurst: 200, Previews: 4, WatchesPerCaller: 100, StreamsPerConnection: 250}

// streams is StreamsPerConnection as gRPC has it.
func (l Limits) streams() uint32 {
	if l.StreamsPerConnection == 0 {
		return math.MaxUint32
	}
	return l.StreamsPerConnection
}

const (
	// unaryTime is how long a unary call may take at most.
	unaryTime = 30 * time.Second
	// previewSendWithin is how long a stream of plans waits for a caller that does
	// not read: as long as people look at a page of it.
	previewSendWithin = time.Minute
	// previewTime is how long a stream of plans may take at most.
	previewTime = 10 * time.Minute
	// rememberedCallers bounds what is remembered of callers: those of a cluster
	// with 10,000 node agents.
	rememberedCallers = 16384
	// previewPause is how long to wait before a preview is tried again.
	previewPause = 2 * time.Second
)

// watchMethods go on until the caller ends them.
var watchMethods = map[string]bool{
	workloadresizerv1.RatioService_WatchRatios_FullMethodName:   true,
	workloadresizerv1.ResizeService_WatchResizes_FullMethodName: true,
}

// callerKey is whose calls count together; the node is empty unless the caller is
// bound to one.
type callerKey struct{ name, node string }

// limiter enforces Limits, but for previews: those count where they begin.
type limiter struct {
	Limits

	mu sync.Mutex
	// callers are the limits of callers' rates, by callerKey.
	callers *lru.Cache
	watches map[string]int
}

func newLimiter(limits Limits) *limiter {
	return &limiter{Limits: limits, callers: lru.New(rememberedCallers), watches: map[string]int{}}
}

// paceUnary comes before what a caller may do is asked: that costs more than to
// make a call.
func (l *limiter) paceUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := l.pace(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

func (l *limiter) paceStream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := l.pace(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return handler(service, stream)
}

// pace takes a call into account. Methods that anybody may call have no caller.
func (l *limiter) pace(ctx context.Context, method string) error {
	caller := access.FromContext(ctx)
	if l.CallsPerSecond == 0 || caller.Local || access.Exempt(method) || l.rateOf(caller).Allow() {
		return nil
	}
	return tooMany(rpcerror.RateLimited, fmt.Sprintf("more than %g calls per second (--max-calls-per-second)", l.CallsPerSecond),
		time.Duration(float64(time.Second)/l.CallsPerSecond))
}

func (l *limiter) rateOf(caller access.Caller) *rate.Limiter {
	node, _ := caller.Node()
	key := callerKey{caller.Name, node}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.callers.Get(key); ok {
		return known.(*rate.Limiter)
	}
	limit := rate.NewLimiter(rate.Limit(l.CallsPerSecond), l.CallBurst)
	l.callers.Add(key, limit)
	return limit
}

// unary gives a call the deadline of the server, unless it has an earlier one.
func (l *limiter) unary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > unaryTime {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, unaryTime)
		defer cancel()
	}
	return handler(ctx, request)
}

// stream counts the watches of a caller.
func (l *limiter) stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if watchMethods[info.FullMethod] {
		leave, err := l.enterWatch(access.FromContext(stream.Context()).Name)
		if err != nil {
			return err
		}
		defer leave()
	}
	return handler(service, stream)
}

func (l *limiter) enterWatch(caller string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if most := l.WatchesPerCaller; most > 0 && l.watches[caller] >= most {
		return nil, tooMany(rpcerror.TooManyWatches, fmt.Sprintf("%d watches of the same caller run already (--max-watches-per-caller)", most), 0)
	}
	l.watches[caller]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.watches[caller]--; l.watches[caller] == 0 {
			delete(l.watches, caller)
		}
	}, nil
}

// tooMany is the answer to who asks for too much; wait is when to try again, 0 if
// nobody knows.
func tooMany(reason *rpcerror.Reason, message string, wait time.Duration) error {
	if wait == 0 {
		return rpcerror.New(reason, message)
	}
	return rpcerror.New(reason, message+"; try again in "+wait.String(),
		&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
}
