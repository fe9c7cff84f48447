package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// everyCall are the command lines that call a server, at least one per method.
var everyCall = [][]string{{"ratios", "list"}, {"plan", "web"}, {"plan"}, {"plan", "-f", "errors_test.go"}, {"explain", "web"},
	{"resizes", "list"}, {"resizes", "get", "web"}, {"resizes", "watch"}, {"history", "list"}, {"history", "watch"}, {"workloads", "list"}, {"nodes", "list"}, {"console", "--no-open"}, {"status"},
	{"restore", "web"}, {"pause", "-n", "shop"}, {"resume", "-A", "--yes"}, {"holds"}, {"freeze", "--yes"}, {"unfreeze", "--yes"},
	{"ratios", "get", "n4"}, {"ratios", "watch"}, {"ratios", "history"},
	{"ratios", "set", "n4=1", "--yes"}, {"ratios", "delete", "n4", "--yes"}, {"ratios", "rollback", "--to", "1", "--yes"},
	{"benchmark", "import", "benchmarks/testdata/benchmark/samples.jsonl"}, {"benchmark", "list"}, {"benchmark", "feeds"},
	{"ratios", "suggest"}, {"ratios", "suggest", "n4"}, {"benchmark", "accept", "n4", "--yes"},
	{"export", "-f", "testdata"}, {"usage"}, {"usage", "deploy/web"}, {"usage", "-w"}, {"usage", "explain", "deploy/web"}, {"usage", "history", "deploy/web", "-c", "app"}, {"usage", "savings"}, {"usage", "savings", "--since", "1h"}, {"usage", "sources"}}

func TestErrorsRules(t *testing.T) {
	t.Run("prints server errors verbatim", printsServerErrorsVerbatim)
	t.Run("says what to do about an unreachable server", saysWhatToDoAboutAnUnreachableServer)
	t.Run("has no limit with a timeout of zero", hasNoLimitWithATimeoutOfZero)
	t.Run("fails if the output cannot be written", failsIfTheOutputCannotBeWritten)
}

func printsServerErrorsVerbatim(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"says what is missing if the server is not ready", cmdtest.WithReason(codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap ns/name does not exist"), "error: ConfigMap ns/name does not exist\n"},
		{"adds what to do next", cmdtest.WithReason(codes.NotFound, "NO_OVERRIDE", "there is no override"), "error: there is no override; " + connect.Hints["NO_OVERRIDE"] + "\n"},
		{"removes control characters", status.Error(codes.Internal, "a\x1b[31m\nb"), "error: a [31m; b\n"},
		{"reports a code without a message", status.Error(codes.PermissionDenied, ""), "error: the server gave no reason other than PermissionDenied\n"},
		{"distinguishes a deadline of the server from --timeout", cmdtest.WithReason(codes.DeadlineExceeded, "TOO_SLOW", "gave up after 5s"), "error: gave up after 5s\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			address := (&cmdtest.Fake{Err: tc.err}).Serve(t)
			for _, args := range everyCall {
				t.Run(strings.Join(args, " "), func(t *testing.T) {
					t.Parallel()
					code, stdout, stderr := program.Shell(t.Context(), append(args, "--server", address)...)
					if code != command.ExitError || stdout != "" || stderr != tc.want {
						t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, tc.want)
					}
				})
			}
		})
	}
}

func saysWhatToDoAboutAnUnreachableServer(t *testing.T) {
	address := cmdtest.Nobody(t)
	want := "error: no workload-resizer server answers at " + address + ": dial tcp " + address + ": connect: connection refused; " +
		"start a server with \"workload-resizer serve\", use the server of a cluster with --context or --service, " +
		"or set another address with --server or RESIZECTL_SERVER"
	for _, args := range everyCall {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := program.Shell(t.Context(), append(args, "--server", address)...)
			if code != command.ExitError || stdout != "" || stderr != want+without(args)+"\n" {
				t.Errorf("exit %d, stdout %q, stderr\n%s\nwant\n%s", code, stdout, stderr, want+without(args))
			}
		})
	}
}

// without returns what errors add for commands that work without a server that answers.
func without(args []string) string {
	const does = "; kubectl does the same without the server: "
	switch args[0] {
	case "freeze":
		return does + connect.FreezeCommand(connect.DefaultNamespace)
	case "unfreeze":
		return does + connect.UnfreezeCommand(connect.DefaultNamespace)
	}
	return ""
}

func TestTimeout(t *testing.T) {
	server := &cmdtest.Fake{Hang: true}
	server.Follow(cmdtest.OnStream(func(ctx context.Context, _ *workloadresizerv1.PreviewPlansRequest, send func(*workloadresizerv1.PreviewPlansResponse) error) error {
		if err := send(cmdtest.PlanMessage(cmdtest.Bare())); err != nil {
			return err
		}
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}))
	address := server.Serve(t)
	want := "error: no complete answer from " + address + " within 50ms; allow more time with --timeout (0 for no limit)"
	for _, args := range everyCall {
		code, stdout, stderr := program.Shell(t.Context(), append(args, "--timeout", "50ms", "--server", address)...)
		if code != command.ExitError || stdout != "" || stderr != want+without(args)+"\n" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want %q", args, code, stdout, stderr, want)
		}
	}
}

func hasNoLimitWithATimeoutOfZero(t *testing.T) {
	address := cmdtest.Answering(known(), cmdtest.Plans(&workloadresizerv1.PlanSummary{Pods: 1, Aligned: 1}, cmdtest.Aligned())).Serve(t)
	for _, args := range [][]string{{"ratios", "list"}, {"plan", "api-0"}, {"plan"}} {
		if code, _, stderr := program.Shell(t.Context(), append(args, "--timeout", "0", "--server", address)...); code != command.ExitOK {
			t.Errorf("%q: exit %d, stderr %q", args, code, stderr)
		}
	}
}

func TestInterruptIsQuiet(t *testing.T) {
	for _, args := range everyCall {
		ctx, cancel := context.WithCancel(t.Context())
		address := (&cmdtest.Fake{Hang: true, Asked: cancel}).Serve(t)
		code, stdout, stderr := program.Shell(ctx, append(args, "--server", address)...)
		if code != command.ExitInterrupted || stdout != "" || stderr != "" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want 130 and nothing", args, code, stdout, stderr)
		}
	}
}

// A full disk behind a redirection must not look like success.
func failsIfTheOutputCannotBeWritten(t *testing.T) {
	frozen := cmdtest.Returns(&workloadresizerv1.GetFreezeResponse{Freeze: &workloadresizerv1.Freeze{}})
	address := cmdtest.Answering(known(), written(), frozen).Serve(t)
	for _, args := range [][]string{{"ratios", "list"}, {"plan", "api-0"}, {"plan"}, {"restore", "web", "--wait=false"},
		{"restore", "-n", "shop", "--dry-run"}, {"pause", "web"}, {"resume", "web"}, {"holds"}, {"freeze", "--yes"}, {"unfreeze", "--dry-run"},
		{"ratios", "get", "n4"}, {"ratios", "history"}, {"ratios", "list", "--rules"}, {"ratios", "set", "n4=1", "--yes"},
		{"ratios", "set", "n4=1", "--dry-run"}, {"ratios", "delete", "n4", "--yes"}, {"ratios", "rollback", "--to", "1", "--yes"},
		{"benchmark", "import", "benchmarks/testdata/benchmark/samples.jsonl"}, {"benchmark", "list"}, {"benchmark", "feeds"},
		{"ratios", "suggest"}, {"ratios", "suggest", "n4"}, {"benchmark", "accept", "n4", "--yes"},
		{"workloads", "list"}, {"nodes", "list"}, {"history", "list", "-A"},
		{"usage"}, {"usage", "explain", "deploy/web"}, {"usage", "history", "deploy/web", "-c", "app"}, {"usage", "savings"}, {"usage", "savings", "--since", "1h"}, {"usage", "sources"}} {
		for _, output := range append(print.Formats[:], "jsonpath={}", "go-template={{.}}") {
			var stderr bytes.Buffer
			streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: cmdtest.FullDisk{}, ErrOut: &stderr}
			code := program(t.Context(), streams, append(args, "--server", address, "-o", output))
			if code != command.ExitError || !strings.Contains(stderr.String(), "no space left on device") {
				t.Errorf("%q -o %s: exit %d, stderr %q", args, output, code, &stderr)
			}
		}
	}
}
