package limits

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

const getRatio = workloadresizerv1.RatioService_GetRatio_FullMethodName

func TestLimits(t *testing.T) {
	t.Run("one caller does not cost others their calls", oneCallerDoesNotCostOthersTheirCalls)
	t.Run("one node does not cost others their calls", oneNodeDoesNotCostOthersTheirCalls)
	t.Run("first calls at once share a limit", firstCallsAtOnceShareALimit)
	t.Run("previews have their number", previewsHaveTheirNumber)
	t.Run("watches of a caller have their number", watchesOfACallerHaveTheirNumber)
	t.Run("nothing of a caller is kept when its work ends", nothingOfACallerIsKeptWhenItsWorkEnds)
	t.Run("unary calls have a deadline of the server", unaryCallsHaveADeadlineOfTheServer)
}

func oneCallerDoesNotCostOthersTheirCalls(t *testing.T) {
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
		// Probes have no name: all of them would be one caller.
		if err := l.pace(t.Context(), healthv1.Health_Check_FullMethodName); err != nil {
			t.Error(err)
		}
	}
}

// Node agents share an account.
func oneNodeDoesNotCostOthersTheirCalls(t *testing.T) {
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

func firstCallsAtOnceShareALimit(t *testing.T) {
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
		t.Errorf("%d calls were let in", allowed.Load())
	}
}

func previewsHaveTheirNumber(t *testing.T) {
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
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "for you")
	take(servertest.As(t, "ben"))
	local := access.NewContext(t.Context(), access.Caller{Local: true})
	releaseLocal := take(local)
	_, err = s.Take(servertest.As(t, "cid"))
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "4 previews of many pods run already")
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

func watchesOfACallerHaveTheirNumber(t *testing.T) {
	l := New(Limits{WatchesPerCaller: 2})
	var leave func()
	for range 2 {
		var err error
		if leave, err = l.enterWatch("ann"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := l.enterWatch("ann")
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_WATCHES", "run already")
	if _, err = l.enterWatch("ben"); err != nil {
		t.Errorf("another caller: %v", err)
	}
	leave()
	if _, err := l.enterWatch("ann"); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

func nothingOfACallerIsKeptWhenItsWorkEnds(t *testing.T) {
	l, s := New(Default), NewSlots(4)
	for i := range 10 {
		leave, err := l.enterWatch(fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		leave()
		release, err := s.Take(servertest.As(t, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	if len(l.watches) != 0 || len(s.taken) != 0 || s.inAll != 0 {
		t.Errorf("%v, %v and %d are left", l.watches, s.taken, s.inAll)
	}
}

func unaryCallsHaveADeadlineOfTheServer(t *testing.T) {
	l := New(Default)
	for _, tc := range []struct {
		name       string
		give, want time.Duration
	}{
		{"one without a deadline", 0, unaryTime},
		{"one with a later deadline", time.Hour, unaryTime},
		{"one with an earlier deadline", time.Second, time.Second},
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
					t.Errorf("it has %v", left)
				}
				return nil, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
