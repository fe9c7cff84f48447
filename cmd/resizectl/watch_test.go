package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	addedEvent    = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED
	modifiedEvent = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED
	deletedEvent  = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_DELETED
	bookmarkEvent = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK
)

// until is a person who presses Ctrl-C when they have seen enough.
type until struct {
	shown  bytes.Buffer
	seen   string
	cancel context.CancelFunc
}

func (u *until) Write(p []byte) (int, error) {
	n, err := u.shown.Write(p)
	if strings.Contains(u.shown.String(), u.seen) {
		u.cancel()
	}
	return n, err
}

// watchUntil runs a watch until seen is in its output.
func watchUntil(t *testing.T, seen string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errOut := &until{seen: seen, cancel: cancel}, &bytes.Buffer{}
	code = run(ctx, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: out, ErrOut: errOut}, args)
	return code, out.shown.String(), errOut.String()
}

// What is printed of a watch is the same however often its stream is interrupted.
func TestWatchesGoOn(t *testing.T) {
	lost, slow := withReason(t, codes.Unavailable, "SHUTTING_DOWN", "closing"), withReason(t, codes.ResourceExhausted, "WATCH_TOO_SLOW", "slow")
	const again = "warning: nobody can tell what has changed meanwhile, so the present state follows\n"
	type stream = scriptedStream[*ratioEvent]
	for _, tc := range []struct {
		name    string
		streams []stream
		tokens  []string
		stderr  string
		// rows is how often c3 is there: once added, once deleted.
		rows int
	}{
		{"where it was when the connection was lost",
			[]stream{{present(), lost}, {[]*ratioEvent{changed(), gone()}, nil}}, []string{"", "t3"}, "", 2},
		{"where it was when it was too slow",
			[]stream{{present(), slow}, {[]*ratioEvent{changed(), gone()}, nil}}, []string{"", "t3"}, "", 2},
		{"and says so when it does not succeed at once",
			// Each attempt is four.
			slices.Concat([]stream{{present(), lost}}, slices.Repeat([]stream{{nil, lost}}, 4), []stream{{[]*ratioEvent{changed(), gone()}, nil}}), []string{"", "t3", "t3", "t3", "t3", "t3"},
			"warning: the watch is interrupted, and tried again: closing\n", 2},
		{"anew if it was cut amid the present state, of which it has shown nothing",
			[]stream{{present()[:1], lost}, {append(present(), changed(), gone()), nil}}, []string{"", ""}, again, 2},
		{"anew if the server has forgotten",
			[]stream{{present(), lost}, {nil, withReason(t, codes.OutOfRange, "RESUME_TOKEN_EXPIRED", "too old")}, {append(present(), gone()), nil}}, []string{"", "t3", ""}, again, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := &scripted{}
			server.watches.next = tc.streams
			code, stdout, stderr := watchUntil(t, "deleted", "ratios", "watch", "--server", serve(t, server))
			if code != command.ExitInterrupted || stderr != tc.stderr || strings.Count(stdout, "EVENT") != 1 || strings.Count(stdout, "c3 ") != tc.rows {
				t.Errorf("exit %d, stderr %q, want %q; stdout\n%s", code, stderr, tc.stderr, stdout)
			}
			if got := server.watches.tokens(); !slices.Equal(got, tc.tokens) {
				t.Errorf("went on from %q, want %q", got, tc.tokens)
			}
		})
	}
}

// The present state comes once more, without what is gone: whoever reads the events
// must be told.
func TestWatchesThatBeginAnewSaySoWhateverTheOutput(t *testing.T) {
	for _, output := range []string{"json", "yaml"} {
		server := &scripted{}
		server.watches.next = []scriptedStream[*ratioEvent]{{present()[:1], withReason(t, codes.Unavailable, "SHUTTING_DOWN", "closing")}, {present(), nil}}
		code, stdout, stderr := watchUntil(t, "t3", "ratios", "watch", "-o", output, "--server", serve(t, server))
		if code != command.ExitInterrupted || !strings.Contains(stderr, "the present state follows") || strings.Count(stdout, "ADDED") != 3 {
			t.Errorf("-o %s: exit %d, stderr %q, stdout\n%s", output, code, stderr, stdout)
		}
	}
}

func TestWatchesEndWhereTheyCannotGoOn(t *testing.T) {
	for _, tc := range []struct {
		name    string
		streams []scriptedStream[*ratioEvent]
	}{
		{"it never began", []scriptedStream[*ratioEvent]{{nil, withReason(t, codes.Unavailable, "RATIOS_NOT_READY", "not now")}}},
		{"it is not allowed any more", []scriptedStream[*ratioEvent]{{present(), withReason(t, codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "not now")}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &scripted{}
			// Reads are tried four times.
			server.watches.next = slices.Repeat(tc.streams, 4)
			code, _, stderr := resizectl(t.Context(), "ratios", "watch", "--server", serve(t, server))
			if code != command.ExitError || stderr != "error: not now\n" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
		})
	}
}

func TestWatchesToAFullDisk(t *testing.T) {
	for _, output := range print.Formats {
		server := &scripted{}
		server.watches.next = []scriptedStream[*ratioEvent]{{events: present()}}
		var stderr bytes.Buffer
		code := run(t.Context(), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: full{}, ErrOut: &stderr}, []string{"ratios", "watch", "--server", serve(t, server), "-o", output})
		if code != command.ExitError || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("-o %s: exit %d, stderr %q", output, code, &stderr)
		}
	}
}

func TestWatchesEndByInterrupt(t *testing.T) {
	for _, what := range []string{"ratios", "resizes"} {
		ctx, cancel := context.WithCancel(t.Context())
		if code, _, stderr := resizectl(ctx, what, "watch", "--server", serve(t, &scripted{hang: true, asked: cancel})); code != command.ExitInterrupted || stderr != "" {
			t.Errorf("%s: exit %d, stderr %q", what, code, stderr)
		}
	}
}

func TestWatchesEndWhenTimeoutSays(t *testing.T) {
	for _, what := range []string{"ratios", "resizes"} {
		address := serve(t, &scripted{hang: true})
		code, _, stderr := resizectl(t.Context(), what, "watch", "--timeout", "10ms", "--server", address)
		if want := "error: no complete answer from " + address + " within 10ms\nallow more time with --timeout (0 for no limit)\n"; code != command.ExitError || stderr != want {
			t.Errorf("%s: exit %d, stderr %q, want %q", what, code, stderr, want)
		}
	}
}
