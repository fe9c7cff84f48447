package limits

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

const getRatio = workloadresizerv1.RatioService_GetRatio_FullMethodName

func TestLimits(t *testing.T) {
	t.Run("a caller does not use up the calls of others", aCallerDoesNotUseUpTheCallsOfOthers)
	t.Run("a node does not use up the calls of others", aNodeDoesNotUseUpTheCallsOfOthers)
	t.Run("concurrent first calls share a limit", concurrentFirstCallsShareALimit)
	t.Run("limits the number of previews", limitsTheNumberOfPreviews)
	t.Run("limits the number of watches per caller", limitsTheNumberOfWatchesPerCaller)
	t.Run("forgets a caller when its work ends", forgetsACallerWhenItsWorkEnds)
	t.Run("sets a deadline on unary calls", setsADeadlineOnUnaryCalls)
	t.Run("a unary call has the context of its caller, with a deadline", aUnaryCallHasTheContextOfItsCallerWithADeadline)
}

func aCallerDoesNotUseUpTheCallsOfOthers(t *testing.T) {
	l := New(Limits{CallsPerSecond: 1e-3, CallBurst: 3})
	for range 3 {
		if err := l.pace(servertest.As(t, "ann"), getRatio); err != nil {
			t.Fatal(err)
		}
	}
	servertest.CheckError(t, l.pace(servertest.As(t, "ann"), getRatio), codes.ResourceExhausted, "RATE_LIMITED", "try again in 16m40s")
	if err := l.pace(servertest.As(t, "ben"), getRatio); err != nil {
		t.Error(err)
	}
	for range 10 {
		if err := l.pace(access.NewContext(t.Context(), access.Caller{Local: true}), getRatio); err != nil {
			t.Error(err)
		}
		// Probes have no name, so all of them would count as one caller.
		if err := l.pace(t.Context(), healthv1.Health_Check_FullMethodName); err != nil {
			t.Error(err)
		}
	}
}

// All node agents have the same account.
func aNodeDoesNotUseUpTheCallsOfOthers(t *testing.T) {
	l := New(Limits{CallsPerSecond: 1e-3, CallBurst: 1})
	on := func(nodes ...string) error {
		extra := map[string][]string{"authentication.kubernetes.io/pod-name": {"x"}, "authentication.kubernetes.io/node-name": nodes}
		return l.pace(access.NewContext(t.Context(), access.Caller{Name: "agent", Extra: extra}), getRatio)
	}
	for _, nodes := range [][]string{{"a"}, {"b"}, nil} {
		if err := on(nodes...); err != nil {
			t.Errorf("the first call on %v: %v", nodes, err)
		}
		servertest.CheckError(t, on(nodes...), codes.ResourceExhausted, "RATE_LIMITED", "try again in")
	}
	servertest.CheckError(t, l.pace(servertest.As(t, "agent"), getRatio), codes.ResourceExhausted, "RATE_LIMITED", "try again in")
	servertest.CheckError(t, on("a", "b"), codes.ResourceExhausted, "RATE_LIMITED", "try again in")
}

func concurrentFirstCallsShareALimit(t *testing.T) {
	l := New(Limits{CallsPerSecond: 1e-3, CallBurst: 3})
	var allowed atomic.Int32
	var calling sync.WaitGroup
	for range 100 {
		calling.Go(func() {
			if l.pace(servertest.As(t, "ann"), getRatio) == nil {
				allowed.Add(1)
			}
		})
	}
	calling.Wait()
	if allowed.Load() != 3 {
		t.Errorf("%d calls were allowed, want 3", allowed.Load())
	}
}

func limitsTheNumberOfPreviews(t *testing.T) {
	s := NewSlots(4)
	take := func(ctx context.Context) func() {
		t.Helper()
		release, err := s.Take(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	release := take(servertest.As(t, "ann"))
	take(servertest.As(t, "ann"))
	_, err := s.Take(servertest.As(t, "ann"))
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "you already have 2")
	take(servertest.As(t, "ben"))
	local := access.NewContext(t.Context(), access.Caller{Local: true})
	releaseLocal := take(local)
	_, err = s.Take(servertest.As(t, "cid"))
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "4 previews of many pods are already running")
	release()
	take(servertest.As(t, "ann"))
	releaseLocal()
	take(local)
	unlimited := NewSlots(0)
	for range 1000 {
		if _, err := unlimited.Take(servertest.As(t, "ann")); err != nil {
			t.Fatal(err)
		}
	}
}

func limitsTheNumberOfWatchesPerCaller(t *testing.T) {
	l := New(Limits{WatchesPerCaller: 2})
	var leave func()
	for range 2 {
		var err error
		if leave, err = l.enterWatch(who("ann")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := l.enterWatch(who("ann"))
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_WATCHES", "already has 2 watches")
	if _, err = l.enterWatch(who("ben")); err != nil {
		t.Errorf("another caller: %v", err)
	}
	leave()
	if _, err := l.enterWatch(who("ann")); err != nil {
		t.Errorf("after one ended: %v", err)
	}
}

func forgetsACallerWhenItsWorkEnds(t *testing.T) {
	l, s := New(Default), NewSlots(4)
	for i := range 10 {
		leave, err := l.enterWatch(fair.Key{Origin: fmt.Sprint(i), Account: fmt.Sprint(i), Credential: "x"})
		if err != nil {
			t.Fatal(err)
		}
		leave()
		release, err := s.Take(sharing(t, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	if watches, slots := l.watches.Held(fair.All, fair.Key{}), s.taken.Held(fair.All, fair.Key{}); watches != 0 || slots != 0 {
		t.Errorf("left: %d watches, %d slots", watches, slots)
	}
}

func setsADeadlineOnUnaryCalls(t *testing.T) {
	l := New(Default)
	for _, tc := range []struct {
		name       string
		give, want time.Duration
	}{
		{"no deadline", 0, unaryTime},
		{"a later deadline", time.Hour, unaryTime},
		{"an earlier deadline", time.Second, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx := servertest.As(t, "ann")
			if tc.give > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tc.give)
				defer cancel()
			}
			began := time.Now()
			_, err := l.Unary(ctx, nil, &grpc.UnaryServerInfo{FullMethod: getRatio}, func(ctx context.Context, _ any) (any, error) {
				deadline, ok := ctx.Deadline()
				if left := deadline.Sub(began); !ok || left < tc.want-time.Second || left > tc.want+time.Second {
					t.Errorf("%v are left, want %v", left, tc.want)
				}
				return nil, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func aUnaryCallHasTheContextOfItsCallerWithADeadline(t *testing.T) {
	begin := func(at time.Time) (*deadline, context.CancelCauseFunc) {
		ctx, cancel := context.WithCancelCause(servertest.As(t, "ann"))
		return &deadline{Context: ctx, at: at}, cancel
	}
	later := time.Now().Add(time.Hour)
	for _, tc := range []struct {
		name string
		at   time.Time
		// end ends the call, if the deadline does not.
		end  func(*deadline, context.CancelCauseFunc)
		want error
	}{
		{"the deadline passes", time.Now(), func(*deadline, context.CancelCauseFunc) {}, context.DeadlineExceeded},
		{"the caller cancels", later, func(_ *deadline, cancel context.CancelCauseFunc) { cancel(nil) }, context.Canceled},
		{"the call ends", later, func(d *deadline, _ context.CancelCauseFunc) { d.end() }, context.Canceled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, cancel := begin(tc.at)
			tc.end(d, cancel)
			if err := d.Err(); !errors.Is(err, tc.want) {
				t.Errorf("unless somebody waits: %v", err)
			}
			d, cancel = begin(tc.at)
			derived, cancelDerived := context.WithCancel(d)
			defer cancelDerived()
			tc.end(d, cancel)
			<-derived.Done()
			<-d.Done()
			if !errors.Is(d.Err(), tc.want) || !errors.Is(derived.Err(), tc.want) {
				t.Errorf("while somebody waits: %v, %v", d.Err(), derived.Err())
			}
		})
	}
	d, cancel := begin(later)
	if caller := access.FromContext(d); d.Err() != nil || caller.Name != "ann" {
		t.Errorf("the caller is %v, err %v", caller, d.Err())
	}
	cancel(errLate)
	<-d.Done()
	if !errors.Is(context.Cause(d), errLate) {
		t.Errorf("the cause is %v", context.Cause(d))
	}
}
