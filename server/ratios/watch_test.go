package ratios

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// ratioEvent has the fields of a message that these tests check.
type ratioEvent struct {
	Type, NodeType string
	CPUFactor      float64
	Revision       string
}

// watchRatios begins a watch that ends with the test.
func watchRatios(t *testing.T, client workloadresizerv1.RatioServiceClient, token string) grpc.ServerStreamingClient[workloadresizerv1.WatchRatiosResponse] {
	t.Helper()
	stream, err := client.WatchRatios(t.Context(), &workloadresizerv1.WatchRatiosRequest{ResumeToken: token})
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// untilBookmark reads messages up to the next bookmark, and returns its token.
func untilBookmark(t *testing.T, stream grpc.ServerStreamingClient[workloadresizerv1.WatchRatiosResponse]) (events []ratioEvent, token string) {
	t.Helper()
	for {
		m, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		name := m.GetType().String()[len("WATCH_EVENT_TYPE_"):]
		events = append(events, ratioEvent{name, m.GetRatio().GetNodeType(), m.GetRatio().GetCpuFactor(), m.GetRevision()})
		if m.GetType() == workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK {
			return events, m.GetResumeToken()
		}
	}
}

func TestWatchRatios(t *testing.T) {
	r, client := serve(t, servertest.Setup{})
	stream := watchRatios(t, client, "")
	// set changes the ratios, and returns the revision of the resulting table.
	changes := r.Store.Watch()
	set := func(change func(*ratios.Layer)) string {
		l := servertest.Layer()
		change(l)
		r.Source.Set(ratios.Update{Layer: l})
		<-changes
		return r.Store.Table().Revision
	}
	expect := func(what string, stream grpc.ServerStreamingClient[workloadresizerv1.WatchRatiosResponse], want ...ratioEvent) string {
		t.Helper()
		got, token := untilBookmark(t, stream)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		return token
	}

	first := r.Store.Table().Revision
	begun := expect("the initial state", stream, ratioEvent{"ADDED", "n2d", 1, first}, ratioEvent{"ADDED", "n4", 0.8, first}, ratioEvent{"BOOKMARK", "", 0, first})
	second := set(func(l *ratios.Layer) { l.Ratios["c3"] = ratios.Ratio{CPUPerf: 2, MemoryPerf: 1} })
	expect("a new node type", stream, ratioEvent{"ADDED", "c3", 0.5, second}, ratioEvent{"BOOKMARK", "", 0, second})
	third := set(func(l *ratios.Layer) { l.Baseline = "n4" })
	expect("another baseline and a removed node type", stream, ratioEvent{"MODIFIED", "n2d", 1.25, third}, ratioEvent{"MODIFIED", "n4", 1, third},
		ratioEvent{"DELETED", "c3", 0.5, third}, ratioEvent{"BOOKMARK", "", 0, third})
	fourth := set(func(l *ratios.Layer) { l.Baseline, l.Settings = "n4", keys.Partial[policy.Settings]{} })
	last := expect("other bounds", stream, ratioEvent{"BOOKMARK", "", 0, fourth})

	expect("resumed after the initial state", watchRatios(t, client, begun), ratioEvent{"ADDED", "c3", 0.5, second}, ratioEvent{"BOOKMARK", "", 0, second})
	expect("resumed at the end", watchRatios(t, client, last), ratioEvent{"BOOKMARK", "", 0, fourth})
	expect("begun again", watchRatios(t, client, ""), ratioEvent{"ADDED", "n2d", 1.25, fourth}, ratioEvent{"ADDED", "n4", 1, fourth}, ratioEvent{"BOOKMARK", "", 0, fourth})

	_, err := watchRatios(t, client, "mine").Recv()
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "resume_token")
}

// Replicas that follow the same sources have the same tables, even if one of them has missed some.
func TestWatchOnAnotherReplica(t *testing.T) {
	first, client := serve(t, servertest.Setup{})
	second, other := serve(t, servertest.Setup{})
	set := func(r *servertest.Parts, change func(*ratios.Layer)) string {
		t.Helper()
		changed := r.Store.Watch()
		l := servertest.Layer()
		change(l)
		r.Source.Set(ratios.Update{Layer: l})
		<-changed
		return r.Store.Table().Revision
	}
	// tokenOf returns the token of the last bookmark for a table.
	tokenOf := func(client workloadresizerv1.RatioServiceClient, revision string) string {
		t.Helper()
		stream := watchRatios(t, client, "")
		for {
			events, token := untilBookmark(t, stream)
			if events[len(events)-1].Revision == revision {
				return token
			}
		}
	}
	resumed := func(what string, stream grpc.ServerStreamingClient[workloadresizerv1.WatchRatiosResponse], want ...ratioEvent) {
		t.Helper()
		got, _ := untilBookmark(t, stream)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	revision := first.Store.Table().Revision
	token := tokenOf(client, revision)
	resumed("the same table", watchRatios(t, other, token), ratioEvent{"BOOKMARK", "", 0, revision})

	withC3 := func(l *ratios.Layer) { l.Ratios["c3"] = ratios.Ratio{CPUPerf: 2, MemoryPerf: 1} }
	newer := set(second, withC3)
	tokenOf(other, newer) // It is in the log.
	resumed("a newer table", watchRatios(t, other, token), ratioEvent{"ADDED", "c3", 0.5, newer}, ratioEvent{"BOOKMARK", "", 0, newer})

	unknown := tokenOf(client, set(first, func(l *ratios.Layer) { l.Baseline = "n4" }))
	_, err := watchRatios(t, other, unknown).Recv()
	servertest.CheckError(t, err, codes.OutOfRange, "RESUME_TOKEN_EXPIRED", "watch again without a token")
	resumed("the replica that has it", watchRatios(t, client, unknown), ratioEvent{"BOOKMARK", "", 0, first.Store.Table().Revision})
}

func TestWatch(t *testing.T) {
	t.Run("fails while there are no ratios", failsWhileThereAreNoRatios)
}

func failsWhileThereAreNoRatios(t *testing.T) {
	_, client := serve(t, servertest.Setup{Ratios: ratios.Update{Err: errors.New("ConfigMap a/b does not exist")}})
	_, err := watchRatios(t, client, "").Recv()
	servertest.CheckError(t, err, codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap a/b does not exist")
}
