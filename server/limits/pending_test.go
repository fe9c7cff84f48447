package limits

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func TestPending(t *testing.T) {
	t.Run("a call whose request does not arrive is canceled", aCallWhoseRequestDoesNotArriveIsCanceled)
	t.Run("a call whose request has arrived may take its time", aCallWhoseRequestHasArrivedMayTakeItsTime)
	t.Run("no caller takes all the room", noCallerTakesAllTheRoom)
	t.Run("calls that ended do not count", callsThatEndedDoNotCount)
}

func aCallWhoseRequestDoesNotArriveIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(Pending)
		ctx, err := p.Enter(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(firstMessageWithin)
		synctest.Wait()
		servertest.CheckError(t, context.Cause(ctx), codes.Canceled, "MESSAGE_LATE", "within 10s")
		if p.calls != 0 || len(p.byCaller) != 0 {
			t.Errorf("%d calls of %d callers are pending", p.calls, len(p.byCaller))
		}
	})
}

// received is a stream whose first request arrives.
type received struct {
	grpc.ServerStream
	ctx context.Context
}

func (s received) Context() context.Context { return s.ctx }
func (s received) RecvMsg(any) error        { return nil }

func aCallWhoseRequestHasArrivedMayTakeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(Pending)
		unary, err := p.Enter(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		streaming, err := p.Enter(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Unary(unary, nil, nil, func(context.Context, any) (any, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
		if err := p.Stream(nil, received{ctx: streaming}, nil, func(_ any, stream grpc.ServerStream) error { return stream.RecvMsg(nil) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * firstMessageWithin)
		if unary.Err() != nil || streaming.Err() != nil || p.calls != 0 {
			t.Errorf("%v, %v, %d pending", unary.Err(), streaming.Err(), p.calls)
		}
	})
}

func noCallerTakesAllTheRoom(t *testing.T) {
	p := new(Pending)
	fill := func(caller string) (entered int) {
		t.Helper()
		for ; ; entered++ {
			if _, err := p.Enter(t.Context(), caller); err != nil {
				servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PENDING", "try again in 1s")
				return entered
			}
		}
	}
	if n := fill(""); n != mostPendingStrangers {
		t.Errorf("%d calls of strangers are pending", n)
	}
	all := mostPendingStrangers
	for i := range 3 {
		n := fill(fmt.Sprint("caller ", i))
		if n != mostPendingPerCaller {
			t.Errorf("%d calls of caller %d are pending", n, i)
		}
		all += n
	}
	if n := fill("another"); all+n != mostPending {
		t.Errorf("%d calls are pending, and %d more", all, n)
	}
}

func callsThatEndedDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(Pending)
		for range 3 * mostPending {
			ctx, end := context.WithCancel(t.Context())
			if _, err := p.Enter(ctx, ""); err != nil {
				t.Fatal(err)
			}
			end()
			synctest.Wait()
		}
	})
}
