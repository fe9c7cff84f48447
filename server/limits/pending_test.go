package limits

import (
	"context"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func TestPending(t *testing.T) {
	t.Run("a call whose request does not arrive is canceled", aCallWhoseRequestDoesNotArriveIsCanceled)
	t.Run("a call whose request has arrived may take its time", aCallWhoseRequestHasArrivedMayTakeItsTime)
	t.Run("a stream may take its time before its request is received", aStreamMayTakeItsTimeBeforeItsRequestIsReceived)
	t.Run("a caller with too many calls loses its oldest one", aCallerWithTooManyCallsLosesItsOldestOne)
	t.Run("nobody keeps another caller out", nobodyKeepsAnotherCallerOut)
	t.Run("callers at one address do not keep out another one", callersAtOneAddressDoNotKeepOutAnotherOne)
	t.Run("calls that ended are forgotten", callsThatEndedAreForgotten)
}

// pending returns how many calls are pending.
func (p *Pending) pending() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held()
}

func aCallWhoseRequestDoesNotArriveIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPending()
		ctx := p.Enter(t.Context(), fair.Key{})
		time.Sleep(firstMessageWithin)
		if ctx.Err() != nil {
			t.Error("it was canceled early")
		}
		time.Sleep(sweepEvery)
		synctest.Wait()
		servertest.CheckError(t, context.Cause(ctx), codes.Canceled, "MESSAGE_LATE", "within 10s")
		if n := p.pending(); n != 0 {
			t.Errorf("%d calls are pending", n)
		}
	})
}

// received is a stream whose first request arrives after a while.
type received struct {
	grpc.ServerStream
	ctx   context.Context
	after time.Duration
}

func (s received) Context() context.Context { return s.ctx }

func (s received) RecvMsg(any) error {
	select {
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-time.After(s.after):
		return nil
	}
}

func aCallWhoseRequestHasArrivedMayTakeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPending()
		unary, streaming := p.Enter(t.Context(), who("ann")), p.Enter(t.Context(), who("ann"))
		if _, err := p.Unary(unary, nil, nil, func(context.Context, any) (any, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
		if err := p.Stream(nil, received{ctx: streaming}, nil, func(_ any, stream grpc.ServerStream) error {
			if err := stream.RecvMsg(nil); err != nil {
				return err
			}
			time.Sleep(2 * firstMessageWithin)
			return stream.RecvMsg(nil)
		}); err != nil {
			t.Fatal(err)
		}
		if unary.Err() != nil || streaming.Err() != nil || p.pending() != 0 {
			t.Errorf("%v, %v, %d pending", unary.Err(), streaming.Err(), p.pending())
		}
	})
}

func aStreamMayTakeItsTimeBeforeItsRequestIsReceived(t *testing.T) {
	for _, tc := range []struct {
		after time.Duration
		code  codes.Code
	}{{firstMessageWithin - time.Second, codes.OK}, {time.Hour, codes.Canceled}} {
		t.Run(tc.after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewPending()
				ctx := p.Enter(t.Context(), who("ann"))
				err := p.Stream(nil, received{ctx: ctx, after: tc.after}, nil, func(_ any, stream grpc.ServerStream) error {
					time.Sleep(2 * firstMessageWithin) // The API server reviews the token.
					return stream.RecvMsg(nil)
				})
				if tc.code != codes.OK {
					servertest.CheckError(t, err, tc.code, "MESSAGE_LATE", "within 10s")
				} else if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func aCallerWithTooManyCallsLosesItsOldestOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPending()
		first, second := p.Enter(t.Context(), who("ann")), p.Enter(t.Context(), who("ann"))
		for range mostPendingPerCaller - 1 {
			p.Enter(t.Context(), who("ann"))
		}
		servertest.CheckError(t, context.Cause(first), codes.ResourceExhausted, "TOO_MANY_PENDING", "try again in 1s")
		if second.Err() != nil {
			t.Error("another call was canceled, too")
		}
	})
}

func nobodyKeepsAnotherCallerOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPending()
		quiet := p.Enter(t.Context(), who("quiet"))
		for i := range 20 {
			for range mostPendingPerCaller {
				p.Enter(t.Context(), who(fmt.Sprint("caller ", i)))
			}
		}
		if n := p.pending(); n > mostPending {
			t.Errorf("%d calls are pending", n)
		}
		if quiet.Err() != nil {
			t.Errorf("the only call of a caller was canceled: %v", context.Cause(quiet))
		}
	})
}

func callersAtOneAddressDoNotKeepOutAnotherOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(ip byte) context.Context {
			return peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, ip)}})
		}
		p := NewPending()
		quiet := p.Enter(at(1), fair.Key{})
		for range 2 * mostPending {
			p.Enter(at(2), fair.Key{})
		}
		if n := p.pending(); n != mostPendingAnonymous {
			t.Errorf("%d calls are pending", n)
		}
		if quiet.Err() != nil {
			t.Errorf("the only call from an address was canceled: %v", context.Cause(quiet))
		}
	})
}

func callsThatEndedAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPending()
		ctx, end := context.WithCancel(t.Context())
		p.Enter(ctx, fair.Key{})
		p.Enter(ctx, who("ann"))
		end()
		time.Sleep(sweepEvery)
		synctest.Wait()
		if n := p.pending(); n != 0 || p.sweeping {
			t.Errorf("%d calls are pending; sweeping: %v", n, p.sweeping)
		}
	})
}
