package limits

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

const (
	// unaryTime is the maximum duration of a unary call.
	unaryTime = 30 * time.Second
	// rememberedCallers is the maximum number of callers whose rates are remembered: enough
	// for a cluster with 10,000 node agents.
	rememberedCallers = 16384
)

// Limiter enforces Limits, except for previews, which take a slot where they begin.
type Limiter struct {
	limits Limits
	calls  *fair.Rate

	mu      sync.Mutex
	watches *fair.Pool[struct{}]
}

// New returns a Limiter that remembers no callers yet.
func New(limits Limits) *Limiter {
	return &Limiter{
		limits:  limits,
		calls:   fair.NewRate(fair.Rates{PerAccount: fair.Burst{PerSecond: limits.CallsPerSecond, Most: limits.CallBurst}}, rememberedCallers),
		watches: fair.NewPool[struct{}](fair.Limits{PerAccount: limits.WatchesPerCaller, PerCredential: fair.Half(limits.WatchesPerCaller)}),
	}
}

// PaceUnary counts calls. It comes before authorization, which costs more than making a call.
func (l *Limiter) PaceUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := l.pace(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// PaceStream is PaceUnary for streams.
func (l *Limiter) PaceStream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := l.pace(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return handler(service, stream)
}

// pace counts a call. Methods that need no credentials have no caller.
func (l *Limiter) pace(ctx context.Context, method string) error {
	if access.Exempt(method) {
		return nil
	}
	if from, ok := peer.FromContext(ctx); ok {
		Used(from.Addr, access.WhoFrom(ctx))
	}
	if l.limits.CallsPerSecond == 0 || access.IsLocal(ctx) {
		return nil
	}
	if _, ok := l.calls.Allow(access.QuotaFrom(ctx), time.Now()); ok {
		return nil
	}
	return tooMany(rpcerror.RateLimited, fmt.Sprintf("more than %g calls per second, or your share of them (--max-calls-per-second)", l.limits.CallsPerSecond),
		time.Duration(float64(time.Second)/l.limits.CallsPerSecond))
}

// Unary sets the server's deadline on a call, unless the call has an earlier one.
func (l *Limiter) Unary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	latest := time.Now().Add(unaryTime)
	if given, ok := ctx.Deadline(); ok && !given.After(latest) {
		return handler(ctx, request)
	}
	limited := &deadline{Context: ctx, at: latest}
	defer limited.end()
	return handler(limited, request)
}

// Stream counts the watches of a caller, or of a connection if they need no credentials.
func (l *Limiter) Stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	leave, err := func() {}, error(nil)
	switch {
	case access.IsWatch(info.FullMethod):
		leave, err = l.enterWatch(access.QuotaFrom(stream.Context()))
	case access.Exempt(info.FullMethod):
		leave, err = enterExemptWatch(stream.Context())
	}
	if err != nil {
		return err
	}
	defer leave()
	return handler(service, stream)
}

func (l *Limiter) enterWatch(who fair.Key) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	watch := new(fair.Share[struct{}])
	switch full := l.watches.Take(watch, who, 1); {
	case full == nil:
	case full.Level == fair.Account:
		return nil, tooMany(rpcerror.TooManyWatches, fmt.Sprintf("the caller already has %d watches (--max-watches-per-caller)", full.Most), 0)
	default:
		return nil, tooMany(rpcerror.TooManyWatches, fmt.Sprintf("your credential already has %d watches, half of what --max-watches-per-caller allows for its account", full.Most), 0)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		watch.Release()
	}, nil
}

// tooMany returns the error for a caller that exceeds a limit. wait is when to try again, 0
// if that is not known.
func tooMany(reason *rpcerror.Reason, message string, wait time.Duration) error {
	if wait == 0 {
		return rpcerror.New(reason, message)
	}
	return rpcerror.New(reason, message+"; try again in "+wait.String(),
		&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
}
