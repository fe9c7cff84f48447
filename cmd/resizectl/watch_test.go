package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// The output of a watch is the same even if its stream is interrupted.
func TestWatchesGoOn(t *testing.T) {
	lost, slow := cmdtest.WithReason(codes.Unavailable, "SHUTTING_DOWN", "closing"), cmdtest.WithReason(codes.ResourceExhausted, "WATCH_TOO_SLOW", "slow")
	const again = "warning: the watch may have missed changes, so the current state follows\n"
	type stream = cmdtest.Stream[*cmdtest.RatioEvent]
	for _, tc := range []struct {
		name    string
		streams []stream
		tokens  []string
		stderr  string
		// rows is how often c3 occurs: once added, once deleted.
		rows int
	}{
		{"resumes after a lost connection",
			[]stream{{Events: cmdtest.RatioEvents()[:3], Err: lost}, {Events: cmdtest.RatioEvents()[3:]}}, []string{"", "t3"}, "", 2},
		{"resumes if it was too slow",
			[]stream{{Events: cmdtest.RatioEvents()[:3], Err: slow}, {Events: cmdtest.RatioEvents()[3:]}}, []string{"", "t3"}, "", 2},
		{"warns if it does not resume immediately",
			// Each attempt makes four calls.
			slices.Concat([]stream{{Events: cmdtest.RatioEvents()[:3], Err: lost}}, slices.Repeat([]stream{{Err: lost}}, 4), []stream{{Events: cmdtest.RatioEvents()[3:]}}), []string{"", "t3", "t3", "t3", "t3", "t3"},
			"warning: the watch was interrupted, retrying: closing\n", 2},
		{"starts over if it was interrupted within the current state, before any output",
			[]stream{{Events: cmdtest.RatioEvents()[:1], Err: lost}, {Events: cmdtest.RatioEvents()}}, []string{"", ""}, again, 2},
		{"starts over if the server has forgotten the token",
			[]stream{{Events: cmdtest.RatioEvents()[:3], Err: lost}, {Err: cmdtest.WithReason(codes.OutOfRange, "RESUME_TOKEN_EXPIRED", "too old")}, {Events: slices.Delete(cmdtest.RatioEvents(), 3, 4)}}, []string{"", "t3", ""}, again, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := cmdtest.Answering(cmdtest.Watches(tc.streams...))
			code, stdout, stderr := program.WatchUntil(t, "deleted", "ratios", "watch", "--server", server.Serve(t))
			if code != command.ExitInterrupted || stderr != tc.stderr || strings.Count(stdout, "EVENT") != 1 || strings.Count(stdout, "c3 ") != tc.rows {
				t.Errorf("exit %d, stderr %q, want %q; stdout\n%s", code, stderr, tc.stderr, stdout)
			}
			var tokens []string
			for _, req := range server.Requests() {
				tokens = append(tokens, req.(*workloadresizerv1.WatchRatiosRequest).GetResumeToken())
			}
			if !slices.Equal(tokens, tc.tokens) {
				t.Errorf("resumed from %q, want %q", tokens, tc.tokens)
			}
		})
	}
}

func TestWatch(t *testing.T) {
	t.Run("warns before starting over in every format", warnsBeforeStartingOverInEveryFormat)
	t.Run("ends if it cannot resume", endsIfItCannotResume)
	t.Run("fails if the watch cannot be written", failsIfTheWatchCannotBeWritten)
	t.Run("ends on an interrupt", endsOnAnInterrupt)
	t.Run("ends after the timeout, which is no error", endsAfterTheTimeoutWhichIsNoError)
	t.Run("fails if the current state takes longer than the timeout", failsIfTheCurrentStateTakesLongerThanTheTimeout)
}

// The current state is printed again, without deleted objects: readers of the events must
// know.
func warnsBeforeStartingOverInEveryFormat(t *testing.T) {
	for _, output := range []string{"json", "yaml"} {
		server := cmdtest.Answering(cmdtest.Watches(cmdtest.Stream[*cmdtest.RatioEvent]{Events: cmdtest.RatioEvents()[:1], Err: cmdtest.WithReason(codes.Unavailable, "SHUTTING_DOWN", "closing")}, cmdtest.Stream[*cmdtest.RatioEvent]{Events: cmdtest.RatioEvents()[:3]}))
		code, stdout, stderr := program.WatchUntil(t, "t3", "ratios", "watch", "-o", output, "--server", server.Serve(t))
		if code != command.ExitInterrupted || !strings.Contains(stderr, "the current state follows") || strings.Count(stdout, "ADDED") != 3 {
			t.Errorf("-o %s: exit %d, stderr %q, stdout\n%s", output, code, stderr, stdout)
		}
	}
}

func endsIfItCannotResume(t *testing.T) {
	for _, tc := range []struct {
		name    string
		streams []cmdtest.Stream[*cmdtest.RatioEvent]
	}{
		{"a watch that never began", []cmdtest.Stream[*cmdtest.RatioEvent]{{Err: cmdtest.WithReason(codes.Unavailable, "RATIOS_NOT_READY", "not now")}}},
		{"a watch that is no longer allowed", []cmdtest.Stream[*cmdtest.RatioEvent]{{Events: cmdtest.RatioEvents()[:3], Err: cmdtest.WithReason(codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "not now")}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// Reads are attempted four times.
			server := cmdtest.Answering(cmdtest.Watches(slices.Repeat(tc.streams, 4)...))
			code, _, stderr := program.Shell(t.Context(), "ratios", "watch", "--server", server.Serve(t))
			if code != command.ExitError || stderr != "error: not now\n" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
		})
	}
}

func failsIfTheWatchCannotBeWritten(t *testing.T) {
	for _, output := range print.Formats {
		server := cmdtest.Answering(cmdtest.Watches(cmdtest.Stream[*cmdtest.RatioEvent]{Events: cmdtest.RatioEvents()[:3]}))
		var stderr bytes.Buffer
		code := program(t.Context(), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: cmdtest.FullDisk{}, ErrOut: &stderr}, []string{"ratios", "watch", "--server", server.Serve(t), "-o", output})
		if code != command.ExitError || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("-o %s: exit %d, stderr %q", output, code, &stderr)
		}
	}
}

func endsOnAnInterrupt(t *testing.T) {
	for _, args := range [][]string{{"ratios", "watch"}, {"resizes", "watch"}, {"history", "watch"}, {"usage", "-w"}} {
		ctx, cancel := context.WithCancel(t.Context())
		if code, _, stderr := program.Shell(ctx, append(args, "--server", (&cmdtest.Fake{Hang: true, Asked: cancel}).Serve(t))...); code != command.ExitInterrupted || stderr != "" {
			t.Errorf("%q: exit %d, stderr %q", args, code, stderr)
		}
	}
}

func endsAfterTheTimeoutWhichIsNoError(t *testing.T) {
	for _, args := range [][]string{{"ratios", "watch"}, {"ratios", "list", "-w"}} {
		server := cmdtest.Answering(cmdtest.Watches(cmdtest.Stream[*cmdtest.RatioEvent]{Events: cmdtest.RatioEvents()[:3]}))
		code, stdout, stderr := program.Shell(t.Context(), append(args, "--timeout", "2s", "--server", server.Serve(t))...)
		if code != command.ExitOK || !strings.Contains(stdout, "c3 ") || stderr != "" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
}

func failsIfTheCurrentStateTakesLongerThanTheTimeout(t *testing.T) {
	for _, what := range []string{"ratios", "resizes"} {
		address := (&cmdtest.Fake{Hang: true}).Serve(t)
		code, _, stderr := program.Shell(t.Context(), what, "watch", "--timeout", "10ms", "--server", address)
		if want := "error: no complete answer from " + address + " within 10ms; allow more time with --timeout (0 for no limit)\n"; code != command.ExitError || stderr != want {
			t.Errorf("%s: exit %d, stderr %q, want %q", what, code, stderr, want)
		}
	}
}
