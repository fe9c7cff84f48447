package client

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	added    = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED
	bookmark = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK
)

// turn is one stream of a scripted watch: the token that it must be requested with, what it
// sends, and how it ends. Names that begin with "present " are in the current state and have
// no token; everything else has its name as token.
type turn struct {
	token string
	sends []string
	err   error
}

// watchServer serves one scripted stream after the other.
type watchServer struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	workloadresizerv1.UnimplementedResizeServiceServer
	t     *testing.T
	turns chan turn
}

func newWatchServer(t *testing.T, turns ...turn) *watchServer {
	s := &watchServer{t: t, turns: make(chan turn, len(turns))}
	for _, turn := range turns {
		s.turns <- turn
	}
	return s
}

func (s *watchServer) dial() *Client {
	return dialServices(s.t, func(server *grpc.Server) {
		workloadresizerv1.RegisterRatioServiceServer(server, s)
		workloadresizerv1.RegisterResizeServiceServer(server, s)
	})
}

func (s *watchServer) serve(token string, send func(name, token string) error) error {
	select {
	case turn := <-s.turns:
		if token != turn.token {
			s.t.Errorf("asked to resume from %q, want %q", token, turn.token)
		}
		for _, name := range turn.sends {
			token := name
			if strings.HasPrefix(name, "present ") {
				token = ""
			}
			if err := send(name, token); err != nil {
				return err
			}
		}
		return turn.err
	default:
		return status.Error(codes.FailedPrecondition, "the script is over")
	}
}

func (s *watchServer) WatchRatios(req *workloadresizerv1.WatchRatiosRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchRatiosResponse]) error {
	return s.serve(req.GetResumeToken(), func(name, token string) error {
		if name == "bookmark" {
			return stream.Send(&workloadresizerv1.WatchRatiosResponse{Type: bookmark, ResumeToken: token})
		}
		return stream.Send(&workloadresizerv1.WatchRatiosResponse{Type: added, Ratio: &workloadresizerv1.Ratio{NodeType: name}, ResumeToken: token})
	})
}

func (s *watchServer) WatchResizes(req *workloadresizerv1.WatchResizesRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchResizesResponse]) error {
	return s.serve(req.GetResumeToken(), func(name, token string) error {
		return stream.Send(&workloadresizerv1.WatchResizesResponse{Type: added, Resize: &workloadresizerv1.Resize{Namespace: req.GetNamespace(), Pod: name}, ResumeToken: token})
	})
}

func TestWatchRatios(t *testing.T) {
	gone := status.Error(codes.Unavailable, "shutting down")
	expired, slow := reasoned(codes.OutOfRange, "RESUME_TOKEN_EXPIRED"), reasoned(codes.ResourceExhausted, "WATCH_TOO_SLOW")
	unknown := reasoned(codes.Unauthenticated, "CREDENTIALS_INVALID")
	for _, tc := range []struct {
		name  string
		turns []turn
		opts  []WatchOption
		want  []string
		// interruptions is how often the watch is interrupted.
		interruptions int
		code          codes.Code
	}{
		{"yields the current state, a bookmark, then changes", []turn{{"", []string{"present n4", "bookmark", "c3"}, gone}}, nil, []string{"present n4", "bookmark", "c3"}, 1, codes.FailedPrecondition},
		{"resumes after the last event if the server goes away", []turn{{"", []string{"n4", "bookmark"}, gone}, {"bookmark", []string{"c3"}, gone}}, nil, []string{"n4", "bookmark", "c3"}, 2, codes.FailedPrecondition},
		{"resumes if the server ends the stream", []turn{{"", []string{"n4"}, nil}, {"n4", []string{"c3"}, nil}}, nil, []string{"n4", "c3"}, 2, codes.FailedPrecondition},
		{"resumes if the caller was too slow", []turn{{"", []string{"n4"}, slow}, {"n4", []string{"c3"}, slow}}, nil, []string{"n4", "c3"}, 2, codes.FailedPrecondition},
		{"resumes with new credentials if the old ones have expired", []turn{{"", []string{"n4"}, unknown}, {"n4", []string{"c3"}, gone}}, nil, []string{"n4", "c3"}, 2, codes.FailedPrecondition},
		{"ends if the new credentials are invalid too", []turn{{"", []string{"n4"}, unknown}, {"n4", nil, unknown}}, nil, []string{"n4"}, 1, codes.Unauthenticated},
		{"resumes if there were too many calls at the same time", []turn{{"", []string{"n4"}, gone}, {"n4", nil, reasoned(codes.ResourceExhausted, "RATE_LIMITED")}, {"n4", []string{"c3"}, gone}}, nil, []string{"n4", "c3"}, 3, codes.FailedPrecondition},
		{"starts over if it cannot resume", []turn{{"", []string{"n4"}, gone}, {"n4", nil, expired}, {"", []string{"c3"}, gone}}, nil, []string{"n4", "reset", "c3"}, 2, codes.FailedPrecondition},
		{"starts over if it was interrupted within the current state", []turn{{"", []string{"present n4"}, gone}, {"", []string{"present c3", "bookmark"}, gone}}, nil, []string{"present n4", "reset", "present c3", "bookmark"}, 2, codes.FailedPrecondition},
		{"starts over as often as it was interrupted there", []turn{{"", []string{"present n4"}, slow}, {"", []string{"present n4"}, nil}, {"", []string{"bookmark"}, gone}}, nil, []string{"present n4", "reset", "present n4", "reset", "bookmark"}, 3, codes.FailedPrecondition},
		{"starts over once, however long the server is then away", []turn{{"", []string{"present n4"}, gone}, {"", nil, nil}, {"", []string{"bookmark"}, gone}}, nil, []string{"present n4", "reset", "bookmark"}, 3, codes.FailedPrecondition},
		{"starts over within the current state after an expired token, too", []turn{{"n4", nil, expired}, {"", []string{"present n4"}, gone}, {"", []string{"bookmark"}, gone}}, []WatchOption{ResumeFrom("n4")}, []string{"reset", "present n4", "reset", "bookmark"}, 2, codes.FailedPrecondition},
		{"resumes from a token", []turn{{"n4", []string{"c3"}, gone}}, []WatchOption{ResumeFrom("n4")}, []string{"c3"}, 1, codes.FailedPrecondition},
		{"starts over if the token has expired", []turn{{"n4", nil, expired}, {"", []string{"c3"}, gone}}, []WatchOption{ResumeFrom("n4")}, []string{"reset", "c3"}, 1, codes.FailedPrecondition},
		{"ends at an error that retrying cannot fix", []turn{{"", []string{"n4"}, status.Error(codes.PermissionDenied, "no")}}, nil, []string{"n4"}, 0, codes.PermissionDenied},
		{"fails if the server never answered", []turn{{"", nil, gone}, {"", nil, gone}, {"", nil, gone}, {"", nil, gone}}, nil, nil, 0, codes.Unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			var ended error
			interruptions := 0
			opts := append(tc.opts, OnRetry(func(error) { interruptions++ }))
			for event, err := range newWatchServer(t, tc.turns...).dial().WatchRatios(t.Context(), opts...) {
				if sent, ok := event.Response.(*workloadresizerv1.WatchRatiosResponse); ok == (event.Reset || err != nil) || sent.GetResumeToken() != event.ResumeToken {
					t.Errorf("%+v has the wrong response", event)
				}
				switch {
				case err != nil:
					ended = err
				case event.Reset:
					got = append(got, "reset")
				case event.Type == bookmark:
					got = append(got, "bookmark")
				default:
					got = append(got, event.Object.GetNodeType())
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("wrong events (-want +got):\n%s", diff)
			}
			if status.Code(ended) != tc.code || interruptions != tc.interruptions {
				t.Errorf("ended with %v after %d interruptions; want %v after %d", ended, interruptions, tc.code, tc.interruptions)
			}
		})
	}
}

func TestWatchResizes(t *testing.T) {
	server := newWatchServer(t, turn{"", []string{"a"}, nil}, turn{"a", []string{"b"}, nil})
	request := &workloadresizerv1.WatchResizesRequest{Namespace: "shop"}
	var got []string
	for event, err := range server.dial().WatchResizes(t.Context(), request) {
		if err != nil {
			break
		}
		got = append(got, event.Object.GetNamespace()+"/"+event.Object.GetPod())
	}
	if diff := cmp.Diff([]string{"shop/a", "shop/b"}, got); diff != "" {
		t.Errorf("wrong events (-want +got):\n%s", diff)
	}
	if request.GetResumeToken() != "" {
		t.Error("changed the caller's request")
	}
}

func TestWatchesEnd(t *testing.T) {
	t.Run("with the loop", func(t *testing.T) {
		for event, err := range newWatchServer(t, turn{"", []string{"a", "b"}, nil}).dial().WatchRatios(t.Context()) {
			if err != nil || event.Object.GetNodeType() != "a" {
				t.Errorf("got %v, %v", event, err)
			}
			break
		}
	})
	t.Run("with the context, while the server is away", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		unavailable := make([]turn, 100)
		for i := range unavailable {
			unavailable[i] = turn{"a", nil, status.Error(codes.Unavailable, "no")}
		}
		server := newWatchServer(t, append([]turn{{"", []string{"a"}, nil}}, unavailable...)...)
		var ended error
		for _, err := range server.dial().WatchRatios(ctx, OnRetry(func(error) { cancel() })) {
			ended = err
		}
		if status.Code(ended) != codes.Canceled {
			t.Errorf("ended with %v", ended)
		}
	})
}

func TestWatch(t *testing.T) {
	t.Run("pauses longer each time", pausesLongerEachTime)
}

func pausesLongerEachTime(t *testing.T) {
	pauses := watchPauses
	pauses.Jitter = 0
	if first := pauses.Step(); first != 100*time.Millisecond {
		t.Errorf("the first pause is %v", first)
	}
	for range 20 {
		pauses.Step()
	}
	if last := pauses.Step(); last != 30*time.Second {
		t.Errorf("they grow to %v", last)
	}
}
