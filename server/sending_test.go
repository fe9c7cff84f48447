package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func TestACallEndsAlthoughNothingIsRead(t *testing.T) {
	blocked := func(ctx context.Context) func() error {
		return func() error {
			<-ctx.Done() // What a send does until the call has ended.
			return ctx.Err()
		}
	}
	t.Run("a send that takes too long ends it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := &sending{}
			began := time.Now()
			err := s.run(ctx, 10*time.Second, func() error { return s.note(blocked(ctx)) })
			servertest.CheckError(t, err, codes.ResourceExhausted, "PREVIEW_TOO_SLOW", "nothing was read for 10s")
			if took := time.Since(began); took < 10*time.Second || took > 13*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	})
	t.Run("work that takes long between sends does not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &sending{}
			err := s.run(t.Context(), time.Second, func() error {
				for range 3 {
					time.Sleep(time.Minute)
					if err := s.note(func() error { return nil }); err != nil {
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
	t.Run("its end ends it while a send is under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			s := &sending{}
			err := s.run(ctx, time.Minute, func() error { return s.note(blocked(ctx)) })
			if code := status.Code(err); code != codes.DeadlineExceeded {
				t.Errorf("ended with %v", err)
			}
		})
	})
	t.Run("the error of the work is that of the call", func(t *testing.T) {
		failed := errors.New("failed")
		s := &sending{}
		if err := s.run(t.Context(), time.Minute, func() error { return failed }); !errors.Is(err, failed) {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("a panic of the work is one of the call", func(t *testing.T) {
		defer func() {
			if cause := recover(); cause == nil {
				t.Error("there was no panic")
			}
		}()
		s := &sending{}
		_ = s.run(t.Context(), time.Minute, func() error { panic("a bug") })
	})
}
