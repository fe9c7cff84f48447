package ratios

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// ratioStream is a watch of ratios whose cpu_perf counts up.
type ratioStream struct {
	grpc.ServerStreamingClient[workloadresizerv1.WatchRatiosResponse]
	token string
	count float64
}

// read reads one message. If it is an event, it must have the next number.
func (s *ratioStream) read() error {
	m, err := s.Recv()
	if err != nil {
		return err
	}
	if s.token = m.GetResumeToken(); m.GetRatio() != nil {
		if got := m.GetRatio().GetCpuPerf(); got != s.count+1 {
			return fmt.Errorf("%v after %v", got, s.count)
		}
		s.count++
	}
	return nil
}

// working counts the goroutines that send.
func working() int {
	stacks := make([]byte, 1<<22)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "streams.(*Call).Run.func1(")
}

func TestWatchSlow(t *testing.T) {
	t.Run("a watch that is not read delays no other and loses no events", aWatchThatIsNotReadDelaysNoOtherAndLosesNoEvents)
}

func aWatchThatIsNotReadDelaysNoOtherAndLosesNoEvents(t *testing.T) {
	store := ratios.NewStore(ratiotest.NewMemory("configmap", ratios.Update{Layer: &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}}}}))
	service := New(Config{Store: store, Viewer: servertest.All, Watches: streams.NewWatches()})
	service.config.Watches.SendWithin = 3 * time.Second
	changes := store.Watch()
	servertest.Run(t, store.Run)
	<-changes
	server := grpc.NewServer()
	workloadresizerv1.RegisterRatioServiceServer(server, service)
	listener := servertest.Serve(t, server)

	watch := func(token string) *ratioStream {
		t.Helper()
		conn := servertest.Dial(t, listener, grpc.WithStaticStreamWindowSize(1<<16))
		stream, err := workloadresizerv1.NewRatioServiceClient(conn).WatchRatios(t.Context(), &workloadresizerv1.WatchRatiosRequest{ResumeToken: token})
		if err != nil {
			t.Fatal(err)
		}
		return &ratioStream{stream, token, 0}
	}
	slow, fast := watch(""), watch("")
	for _, s := range []*ratioStream{slow, fast} {
		for s.token == "" {
			if err := s.read(); err != nil {
				t.Fatal(err)
			}
		}
	}

	// Far more than fits into the buffers between server and caller, one by one.
	const events = 3000
	author := strings.Repeat("a", 300)
	worst := time.Duration(0)
	for i := range events {
		begin := time.Now()
		r := &workloadresizerv1.Ratio{NodeType: "n4", CpuPerf: float64(i + 2), Provenance: &workloadresizerv1.Provenance{Author: author}}
		service.log.Update(changelog.Place{}, changelog.Change[ratioItem]{Key: "n4", Item: &ratioItem{ratio: r}})
		for before := fast.count; fast.count == before; {
			if err := fast.read(); err != nil {
				t.Fatal(err)
			}
		}
		worst = max(worst, time.Since(begin))
	}
	t.Logf("maximum latency from a change to its receipt: %v", worst)
	if worst >= service.config.Watches.SendWithin {
		t.Errorf("the watch that is read was delayed by %v", worst)
	}

	localcluster.Eventually(t, "the watch that is not read to be cut off", func() error {
		if n := working(); n != 1 {
			return fmt.Errorf("%d goroutines still send", n)
		}
		return nil
	})
	var err error
	for err == nil {
		err = slow.read()
	}
	servertest.CheckError(t, err, codes.ResourceExhausted, "WATCH_TOO_SLOW", "the client read nothing for 3s")
	t.Logf("cut off after %v of %d events", slow.count, events)
	resumed := watch(slow.token)
	for resumed.count = slow.count; resumed.count < fast.count; {
		if err := resumed.read(); err != nil {
			t.Fatal(err)
		}
	}

	service.config.Watches.End()
	begin := time.Now()
	server.GracefulStop()
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("watches delayed the shutdown of the server by %v", took)
	}
	for _, s := range []*ratioStream{fast, resumed} {
		for err = nil; err == nil; {
			err = s.read()
		}
		servertest.CheckError(t, err, codes.Unavailable, "SHUTTING_DOWN", "the server is shutting down")
	}
	localcluster.Eventually(t, "all goroutines to end", func() error {
		if n := working(); n != 0 {
			return fmt.Errorf("%d goroutines still send", n)
		}
		return nil
	})
}
