package streams

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func TestCall(t *testing.T) {
	t.Run("a call ends even if nothing is read", aCallEndsEvenIfNothingIsRead)
}

func aCallEndsEvenIfNothingIsRead(t *testing.T) {
	within := func(t time.Duration) *Call {
		return &Call{SendWithin: t, TooSlow: rpcerror.PreviewTooSlow, Advice: "try again"}
	}
	blocked := func(ctx context.Context) func() error {
		return func() error {
			<-ctx.Done() // A send blocks until the call has ended.
			return ctx.Err()
		}
	}
	t.Run("a slow send ends the call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := within(10 * time.Second)
			began := time.Now()
			err := c.Run(ctx, func(ctx context.Context) error {
				time.Sleep(7 * time.Second)
				return c.Send(blocked(ctx))
			})
			servertest.CheckError(t, err, codes.ResourceExhausted, "PREVIEW_TOO_SLOW", "the client read nothing for 10s")
			if took := time.Since(began); took != 17*time.Second {
				t.Errorf("the call took %v", took)
			}
		})
	})
	t.Run("slow work between sends does not end the call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := within(time.Second)
			err := c.Run(t.Context(), func(context.Context) error {
				for range 3 {
					time.Sleep(time.Minute)
					if err := c.Send(func() error { return nil }); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("the deadline ends the call during a send", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c := within(time.Minute)
			err := c.Run(ctx, func(ctx context.Context) error { return c.Send(blocked(ctx)) })
			if code := status.Code(err); code != codes.DeadlineExceeded {
				t.Errorf("ended with %v", err)
			}
		})
	})
	t.Run("the call returns the error of its work", func(t *testing.T) {
		failed := errors.New("failed")
		if err := within(time.Minute).Run(t.Context(), func(context.Context) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("a panic of the work is a panic of the call", func(t *testing.T) {
		defer func() {
			if cause := recover(); cause == nil {
				t.Error("there was no panic")
			}
		}()
		_ = within(time.Minute).Run(t.Context(), func(context.Context) error { panic("a bug") })
	})
}
