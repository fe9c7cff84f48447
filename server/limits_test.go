package server

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/server/access"
)

const getRatio = workloadresizerv1.RatioService_GetRatio_FullMethodName

func as(t *testing.T, name string) context.Context {
	return access.NewContext(t.Context(), access.Caller{Name: name})
}

func TestOneCallerDoesNotCostOthersTheirCalls(t *testing.T) {
	l := newLimiter(Limits{CallsPerSecond: 1e-3, CallBurst: 3})
	for range 3 {
		if err := l.pace(as(t, "ann"), getRatio); err != nil {
			t.Fatal(err)
		}
	}
	checkError(t, l.pace(as(t, "ann"), getRatio), codes.ResourceExhausted, "RATE_LIMITED", "try again in 16m40s")
	if err := l.pace(as(t, "ben"), getRatio); err != nil {
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
func TestOneNodeDoesNotCostOthersTheirCalls(t *testing.T) {
	l := newLimiter(Limits{CallsPerSecond: 1e-3, CallBurst: 1})
	on := func(nodes ...string) error {
		extra := map[string][]string{"authentication.kubernetes.io/pod-name": {"x"}, "authentication.kubernetes.io/node-name": nodes}
		return l.pace(access.NewContext(t.Context(), access.Caller{Name: "agent", Extra: extra}), getRatio)
	}
	for _, nodes := range [][]string{{"a"}, {"b"}, nil} {
		if err := on(nodes...); err != nil {
			t.Errorf("the first call on %v: %v", nodes, err)
		}
		checkError(t, on(nodes...), codes.ResourceExhausted, "RATE_LIMITED", "try again in")
	}
	checkError(t, l.pace(as(t, "agent"), getRatio), codes.ResourceExhausted, "RATE_LIMITED", "try again in")
	checkError(t, on("a", "b"), codes.ResourceExhausted, "RATE_LIMITED", "try again in")
}

func TestFirstCallsAtOnceShareALimit(t *testing.T) {
	l := newLimiter(Limits{CallsPerSecond: 1e-3, CallBurst: 3})
	var allowed atomic.Int32
	var calling sync.WaitGroup
	for range 100 {
		calling.Go(func() {
			if l.pace(as(t, "ann"), getRatio) == nil {
				allowed.Add(1)
			}
		})
	}
	calling.Wait()
	if allowed.Load() != 3 {
		t.Errorf("%d calls were let in", allowed.Load())
	}
}

func TestPreviewsHaveTheirNumber(t *testing.T) {
	s := newPreviewSlots(4)
	take := func(ctx context.Context) func() {
		t.Helper()
		release, err := s.take(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	release := take(as(t, "ann"))
	take(as(t, "ann"))
	_, err := s.take(as(t, "ann"))
	checkError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "for you")
	take(as(t, "ben"))
	local := access.NewContext(t.Context(), access.Caller{Local: true})
	releaseLocal := take(local)
	_, err = s.take(as(t, "cid"))
	checkError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "4 previews of many pods run already")
	release()
	take(as(t, "ann"))
	releaseLocal()
	take(local)
	unlimited := newPreviewSlots(0)
	for range 1000 {
		if _, err := unlimited.take(as(t, "ann")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWatchesOfACallerHaveTheirNumber(t *testing.T) {
	l := newLimiter(Limits{WatchesPerCaller: 2})
	var leave func()
	for range 2 {
		var err error
		if leave, err = l.enterWatch("ann"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := l.enterWatch("ann")
	checkError(t, err, codes.ResourceExhausted, "TOO_MANY_WATCHES", "run already")
	if _, err = l.enterWatch("ben"); err != nil {
		t.Errorf("another caller: %v", err)
	}
	leave()
	if _, err := l.enterWatch("ann"); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

func TestNothingOfACallerIsKeptWhenItsWorkEnds(t *testing.T) {
	l, s := newLimiter(DefaultLimits), newPreviewSlots(4)
	for i := range 10 {
		leave, err := l.enterWatch(fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		leave()
		release, err := s.take(as(t, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	if len(l.watches) != 0 || len(s.taken) != 0 || s.inAll != 0 {
		t.Errorf("%v, %v and %d are left", l.watches, s.taken, s.inAll)
	}
}

func TestUnaryCallsHaveADeadlineOfTheServer(t *testing.T) {
	l := newLimiter(DefaultLimits)
	for _, tc := range []struct {
		name       string
		give, want time.Duration
	}{
		{"one without a deadline", 0, unaryTime},
		{"one with a later deadline", time.Hour, unaryTime},
		{"one with an earlier deadline", time.Second, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx := as(t, "ann")
			if tc.give > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tc.give)
				defer cancel()
			}
			began := time.Now()
			_, err := l.unary(ctx, nil, &grpc.UnaryServerInfo{FullMethod: getRatio}, func(ctx context.Context, _ any) (any, error) {
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

func TestReflectionAndChannelzCanBeSwitched(t *testing.T) {
	for _, on := range []bool{false, true} {
		services := New(Config{Ratios: ratios.NewStore(), Reflection: on, Channelz: on, Metrics: prometheus.NewRegistry()}).grpc.GetServiceInfo()
		for _, name := range []string{"grpc.reflection.v1.ServerReflection", "grpc.channelz.v1.Channelz"} {
			if _, served := services[name]; served != on {
				t.Errorf("switched on: %v; %s is served: %v", on, name, served)
			}
		}
	}
}
