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
)

// What is printed of a watch is the same however often its stream is interrupted.
func TestWatchesGoOn(t *testing.T) {
	lost, slow := cmdtest.WithReason(t, codes.Unavailable, "SHUTTING_DOWN", "closing"), cmdtest.WithReason(t, codes.ResourceExhausted, "WATCH_TOO_SLOW", "slow")
	const again = "warning: nobody can tell what has changed meanwhile, so the present state follows\n"
	type stream = cmdtest.Stream[*cmdtest.RatioEvent]
	for _, tc := range []struct {
		name    string
		streams []stream
		tokens  []string
		stderr  string
		// rows is how often c3 is there: once added, once deleted.
		rows int
	}{
		{"where it was when the connection was lost",
			[]stream{{Events: cmdtest.PresentRatios(), Err: lost}, {Events: []*cmdtest.RatioEvent{cmdtest.ChangedRatio(), cmdtest.GoneRatio()}}}, []string{"", "t3"}, "", 2},
		{"where it was when it was too slow",
			[]stream{{Events: cmdtest.PresentRatios(), Err: slow}, {Events: []*cmdtest.RatioEvent{cmdtest.ChangedRatio(), cmdtest.GoneRatio()}}}, []string{"", "t3"}, "", 2},
		{"and says so when it does not succeed at once",
			// Each attempt is four.
			slices.Concat([]stream{{Events: cmdtest.PresentRatios(), Err: lost}}, slices.Repeat([]stream{{Err: lost}}, 4), []stream{{Events: []*cmdtest.RatioEvent{cmdtest.ChangedRatio(), cmdtest.GoneRatio()}}}), []string{"", "t3", "t3", "t3", "t3", "t3"},
			"warning: the watch is interrupted, and tried again: closing\n", 2},
		{"anew if it was cut amid the present state, of which it has shown nothing",
			[]stream{{Events: cmdtest.PresentRatios()[:1], Err: lost}, {Events: append(cmdtest.PresentRatios(), cmdtest.ChangedRatio(), cmdtest.GoneRatio())}}, []string{"", ""}, again, 2},
		{"anew if the server has forgotten",
			[]stream{{Events: cmdtest.PresentRatios(), Err: lost}, {Err: cmdtest.WithReason(t, codes.OutOfRange, "RESUME_TOKEN_EXPIRED", "too old")}, {Events: append(cmdtest.PresentRatios(), cmdtest.GoneRatio())}}, []string{"", "t3", ""}, again, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := &cmdtest.Server{}
			server.Watches.Next = tc.streams
			code, stdout, stderr := program.WatchUntil(t, "deleted", "ratios", "watch", "--server", cmdtest.Serve(t, server))
			if code != command.ExitInterrupted || stderr != tc.stderr || strings.Count(stdout, "EVENT") != 1 || strings.Count(stdout, "c3 ") != tc.rows {
				t.Errorf("exit %d, stderr %q, want %q; stdout\n%s", code, stderr, tc.stderr, stdout)
			}
			if got := server.Watches.Tokens(); !slices.Equal(got, tc.tokens) {
				t.Errorf("went on from %q, want %q", got, tc.tokens)
			}
		})
	}
}

func TestWatch(t *testing.T) {
	t.Run("watches that begin anew say so whatever the output", watchesThatBeginAnewSaySoWhateverTheOutput)
	t.Run("watches end where they cannot go on", watchesEndWhereTheyCannotGoOn)
	t.Run("watches to a full disk", watchesToAFullDisk)
	t.Run("watches end by interrupt", watchesEndByInterrupt)
	t.Run("watches end when timeout says", watchesEndWhenTimeoutSays)
}

// The present state comes once more, without what is gone: whoever reads the events
// must be told.
func watchesThatBeginAnewSaySoWhateverTheOutput(t *testing.T) {
	for _, output := range []string{"json", "yaml"} {
		server := &cmdtest.Server{}
		server.Watches.Next = []cmdtest.Stream[*cmdtest.RatioEvent]{{Events: cmdtest.PresentRatios()[:1], Err: cmdtest.WithReason(t, codes.Unavailable, "SHUTTING_DOWN", "closing")}, {Events: cmdtest.PresentRatios()}}
		code, stdout, stderr := program.WatchUntil(t, "t3", "ratios", "watch", "-o", output, "--server", cmdtest.Serve(t, server))
		if code != command.ExitInterrupted || !strings.Contains(stderr, "the present state follows") || strings.Count(stdout, "ADDED") != 3 {
			t.Errorf("-o %s: exit %d, stderr %q, stdout\n%s", output, code, stderr, stdout)
		}
	}
}

func watchesEndWhereTheyCannotGoOn(t *testing.T) {
	for _, tc := range []struct {
		name    string
		streams []cmdtest.Stream[*cmdtest.RatioEvent]
	}{
		{"it never began", []cmdtest.Stream[*cmdtest.RatioEvent]{{Err: cmdtest.WithReason(t, codes.Unavailable, "RATIOS_NOT_READY", "not now")}}},
		{"it is not allowed any more", []cmdtest.Stream[*cmdtest.RatioEvent]{{Events: cmdtest.PresentRatios(), Err: cmdtest.WithReason(t, codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "not now")}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &cmdtest.Server{}
			// Reads are tried four times.
			server.Watches.Next = slices.Repeat(tc.streams, 4)
			code, _, stderr := program.Shell(t.Context(), "ratios", "watch", "--server", cmdtest.Serve(t, server))
			if code != command.ExitError || stderr != "error: not now\n" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
		})
	}
}

func watchesToAFullDisk(t *testing.T) {
	for _, output := range print.Formats {
		server := &cmdtest.Server{}
		server.Watches.Next = []cmdtest.Stream[*cmdtest.RatioEvent]{{Events: cmdtest.PresentRatios()}}
		var stderr bytes.Buffer
		code := program(t.Context(), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: cmdtest.FullDisk{}, ErrOut: &stderr}, []string{"ratios", "watch", "--server", cmdtest.Serve(t, server), "-o", output})
		if code != command.ExitError || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("-o %s: exit %d, stderr %q", output, code, &stderr)
		}
	}
}

func watchesEndByInterrupt(t *testing.T) {
	for _, what := range []string{"ratios", "resizes"} {
		ctx, cancel := context.WithCancel(t.Context())
		if code, _, stderr := program.Shell(ctx, what, "watch", "--server", cmdtest.Serve(t, &cmdtest.Server{Hang: true, Asked: cancel})); code != command.ExitInterrupted || stderr != "" {
			t.Errorf("%s: exit %d, stderr %q", what, code, stderr)
		}
	}
}

func watchesEndWhenTimeoutSays(t *testing.T) {
	for _, what := range []string{"ratios", "resizes"} {
		address := cmdtest.Serve(t, &cmdtest.Server{Hang: true})
		code, _, stderr := program.Shell(t.Context(), what, "watch", "--timeout", "10ms", "--server", address)
		if want := "error: no complete answer from " + address + " within 10ms\nallow more time with --timeout (0 for no limit)\n"; code != command.ExitError || stderr != want {
			t.Errorf("%s: exit %d, stderr %q, want %q", what, code, stderr, want)
		}
	}
}
