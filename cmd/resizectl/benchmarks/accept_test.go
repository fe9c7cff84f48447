package benchmarks

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// accepting returns the command line that accepts a suggestion.
func accepting(t *testing.T, server *suggester, args ...string) []string {
	return append([]string{"benchmark", "accept", "--server", server.Serve(t)}, args...)
}

const hiddenOfImpact = "warning: affected pods in namespaces that you cannot see are left out: you do not have the right to get pods in all namespaces\n"

func mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// updateOfN4 returns the request that accepts the suggestion for n4.
func updateOfN4(reason string, change func(*workloadresizerv1.UpdateOverrideRequest)) *workloadresizerv1.UpdateOverrideRequest {
	update := &workloadresizerv1.UpdateOverrideRequest{
		Override:     &workloadresizerv1.Override{NodeType: "n4", CpuPerf: new(1.1234567), MemoryPerf: new(1.0)},
		RatioEtag:    "of-n4",
		UpdateMask:   mask("cpu_perf", "memory_perf"),
		AllowMissing: true, AllowNewNodeType: true, Reason: reason,
	}
	change(update)
	return update
}

// The override is exactly what was suggested, provided that no other change came first.
func TestBenchmarkAccept(t *testing.T) {
	const measured = "accepted from benchmarks: coremark 1.12, sysbench 1.12"
	for _, tc := range []struct {
		golden string
		args   []string
		asked  *workloadresizerv1.UpdateOverrideRequest
	}{
		{"accept", []string{"n4"}, updateOfN4(measured, func(*workloadresizerv1.UpdateOverrideRequest) {})},
		{"accept", []string{"n4", "--reason", "new kernel"}, updateOfN4("new kernel; "+measured, func(*workloadresizerv1.UpdateOverrideRequest) {})},
		{"accept-until", []string{"n4", "--until", "2026-11-22T02:00:00+01:00"}, updateOfN4(measured, func(u *workloadresizerv1.UpdateOverrideRequest) {
			u.Override.ExpireTime = timestamppb.New(time.Date(2026, 11, 22, 1, 0, 0, 0, time.UTC))
			u.UpdateMask = mask("cpu_perf", "memory_perf", "expire_time")
		})},
		{"accept-never", []string{"n4", "--until", "never"}, updateOfN4(measured, func(u *workloadresizerv1.UpdateOverrideRequest) {
			u.UpdateMask = mask("cpu_perf", "memory_perf", "expire_time")
		})},
		{"accept-production", []string{"n4", "--from", "production"}, updateOfN4("accepted from production: 1.25 (1.23 to 1.27), 42 workloads on 12 nodes", func(u *workloadresizerv1.UpdateOverrideRequest) {
			u.Override.CpuPerf = new(1.25)
		})},
		{"accept-production", []string{"n4", "--from", "production", "--reason", "measured"}, updateOfN4("measured; accepted from production: 1.25 (1.23 to 1.27), 42 workloads on 12 nodes", func(u *workloadresizerv1.UpdateOverrideRequest) {
			u.Override.CpuPerf = new(1.25)
		})},
		{"accept-forced", []string{"e2", "--force"}, updateOfN4("accepted from benchmarks: coremark 0.8, sysbench 0.8", func(u *workloadresizerv1.UpdateOverrideRequest) {
			u.Override = &workloadresizerv1.Override{NodeType: "e2", CpuPerf: new(0.8), MemoryPerf: new(1.0)}
			u.RatioEtag = "of-e2"
		})},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			server := suggesting()
			code, stdout, stderr := program.Shell(t.Context(), accepting(t, server, append(tc.args, "--yes")...)...)
			if code != command.ExitOK {
				t.Errorf("exit %d", code)
			}
			cmdtest.Golden(t, tc.golden+".table", stdout)
			cmdtest.Golden(t, tc.golden+".preview", stderr)
			// It is sent twice: first only to validate.
			tc.asked.Author = connect.Author()
			tried := proto.CloneOf(tc.asked)
			tried.ValidateOnly = true
			if diff := cmp.Diff([]proto.Message{tried, tc.asked}, server.Written(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAccept(t *testing.T) {
	t.Run("accepts for a limited time", acceptsForALimitedTime)
	t.Run("warns if production contradicts what benchmarks suggest", warnsIfProductionContradictsWhatBenchmarksSuggest)
	t.Run("changes nothing in a dry run", changesNothingInADryRun)
	t.Run("reports that nothing changes", reportsThatNothingChanges)
	t.Run("fails if another change came first", failsIfAnotherChangeCameFirst)
	t.Run("an implausible suggestion needs a flag", anImplausibleSuggestionNeedsAFlag)
	t.Run("asks for confirmation at a terminal", asksForConfirmationAtATerminal)
}

func acceptsForALimitedTime(t *testing.T) {
	server := suggesting()
	begin := time.Now()
	code, _, stderr := program.Shell(t.Context(), accepting(t, server, "n4", "--for", "90m", "--yes")...)
	if code != command.ExitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	end := server.LastRequest().(*workloadresizerv1.UpdateOverrideRequest).GetOverride().GetExpireTime().AsTime()
	if end.Before(begin.Add(90*time.Minute)) || end.After(time.Now().Add(90*time.Minute+time.Second)) {
		t.Errorf("ends %v after the start", end.Sub(begin))
	}
}

func warnsIfProductionContradictsWhatBenchmarksSuggest(t *testing.T) {
	s := suggestions()[2]
	s.Production.Contradictions[1].Source = "benchmark"
	for from, want := range map[string]string{
		"benchmark":  "warning: production contradicts this suggestion: it shows 1.25 (1.23 to 1.27); accept that with --from production\n",
		"production": "",
	} {
		streams, _, _, stderr := genericiooptions.NewTestIOStreams()
		o := &acceptOptions{WriteOptions: ratios.WriteOptions{Output: print.Output{IOStreams: streams}}, from: from}
		if err := o.contradicted(s); err != nil || stderr.String() != want {
			t.Errorf("from %s: %q, %v", from, stderr, err)
		}
	}
}

func changesNothingInADryRun(t *testing.T) {
	for _, output := range print.Formats {
		server := suggesting()
		code, stdout, stderr := program.Shell(t.Context(), accepting(t, server, "n4", "--dry-run", "-o", output)...)
		if code != command.ExitDifferences || stderr != hiddenOfImpact || len(server.Written()) != 1 {
			t.Errorf("-o %s: exit %d, stderr %q, %d requests", output, code, stderr, len(server.Written()))
		}
		cmdtest.Golden(t, "accept-dry-run."+output, stdout)
	}
}

func TestBenchmarkAcceptRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{"a suggestion that is held back", "error: the suggestion for e2 is held back: ModelsDiffer: Intel-6-79 has 0.4, [31m AMD-23-49 has 1.1; " +
			"TooFewMachines: 1 machine of e2, 2 are needed; TooFewMachines: 1 machine of baseline n2d, 2 are needed; accept it anyway with --force\n", []string{"e2"}},
		{"a suggestion that is held back, even in a dry run", "error: the suggestion for e2 is held back: ModelsDiffer: Intel-6-79 has 0.4, [31m AMD-23-49 has 1.1; " +
			"TooFewMachines: 1 machine of e2, 2 are needed; TooFewMachines: 1 machine of baseline n2d, 2 are needed; accept it anyway with --force\n", []string{"e2", "--dry-run"}},
		{"a missing ratio, even with --force", "error: there is nothing to accept: no benchmark was run on both c3 and n2d; " +
			"\"resizectl benchmark list\" shows the measurements\n", []string{"c3", "--force"}},
		{"what production does not show, even with --force", "error: there is nothing to accept: production does not show how fast c3 is; " +
			"\"resizectl ratios suggest c3\" shows why\n", []string{"c3", "--from", "production", "--force"}},
		{"a node type without measurements", "error: no benchmark covers \"n5\"\n", []string{"n5"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := suggesting()
			code, stdout, stderr := program.Shell(t.Context(), accepting(t, server, append(tc.args, "--yes")...)...)
			if code != command.ExitError || stdout != "" || stderr != tc.want || len(server.Written()) > 0 {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, tc.want)
			}
		})
	}
}

func reportsThatNothingChanges(t *testing.T) {
	server := suggesting()
	server.unchanged = true
	code, stdout, stderr := program.Shell(t.Context(), accepting(t, server, "n4", "--yes")...)
	if code != command.ExitOK || stdout != "" || stderr != "nothing to change: the overrides are already as requested\n" || len(server.Written()) != 1 {
		t.Errorf("exit %d, stdout %q, stderr %q, %d requests", code, stdout, stderr, len(server.Written()))
	}
}

func failsIfAnotherChangeCameFirst(t *testing.T) {
	server := suggesting()
	server.refused = cmdtest.WithReason(codes.Aborted, "ETAG_MISMATCH", "n4 was changed by bob")
	code, stdout, stderr := program.Shell(t.Context(), accepting(t, server, "n4", "--yes")...)
	want := "error: another change came first, so nothing was changed: n4 was changed by bob; " + connect.Hints["ETAG_MISMATCH"] + "\n"
	if code != command.ExitError || stdout != "" || !strings.HasSuffix(stderr, want) {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func anImplausibleSuggestionNeedsAFlag(t *testing.T) {
	const implausible = "n4 would be 125 times as fast as n2d for cpu"
	for flag, want := range map[string]string{"--force": "error: ", "--allow-implausible": "warning: "} {
		server := suggesting()
		server.unconfirmed = cmdtest.WithReason(codes.FailedPrecondition, "IMPLAUSIBLE_RATIO", implausible)
		code, _, stderr := program.Shell(t.Context(), accepting(t, server, "n4", "--yes", flag)...)
		if (code == command.ExitOK) != (want == "warning: ") || !strings.HasPrefix(stderr, want+implausible) {
			t.Errorf("%s: exit %d, stderr\n%s", flag, code, stderr)
		}
	}
}

func asksForConfirmationAtATerminal(t *testing.T) {
	for answer, asked := range map[string]int{"y\n": 2, "\n": 1} {
		server := suggesting()
		var stdout, stderr bytes.Buffer
		streams := genericiooptions.IOStreams{In: cmdtest.OpenTerminal(t).Typed(t, answer), Out: &stdout, ErrOut: &stderr}
		code := program(t.Context(), streams, accepting(t, server, "n4"))
		if (code == command.ExitOK) != (asked == 2) || !strings.Contains(stderr.String(), "Apply? [y/N] ") || len(server.Written()) != asked {
			t.Errorf("%q: exit %d, %d requests, stderr\n%s", answer, code, len(server.Written()), &stderr)
		}
	}
}

// The server accepts 512 bytes.
func TestAcceptReason(t *testing.T) {
	const longName = 100
	many := &workloadresizerv1.Suggestion{}
	for _, letter := range "abcdefghij" {
		many.Parts = append(many.Parts, &workloadresizerv1.SuggestionPart{Benchmark: strings.Repeat(string(letter), longName), Ratio: 1.25, Weight: 1})
	}
	few := proto.CloneOf(suggestions()[2])
	few.Parts = few.Parts[:2]
	first := strings.Repeat("a", longName) + " 1.25"
	for _, tc := range []struct {
		name, says, want string
		of               *workloadresizerv1.Suggestion
	}{
		{"names the benchmarks that count", "", "accepted from benchmarks: coremark 1.12", few},
		{"begins with the user's reason", "new kernel", "new kernel; accepted from benchmarks: coremark 1.12", few},
		{"stops naming benchmarks when there is no more room", strings.Repeat("x", 300), strings.Repeat("x", 300) + "; accepted from benchmarks: " + first + " and 9 more", many},
		{"names none without room", strings.Repeat("x", 450), strings.Repeat("x", 450) + "; accepted from benchmarks", many},
		{"never cuts the user's reason", strings.Repeat("x", 500), strings.Repeat("x", 500), many},
	} {
		got := acceptReason(tc.says, tc.of)
		if got != tc.want || len(got) > maxReason {
			t.Errorf("%s: %d bytes, %q", tc.name, len(got), got)
		}
	}
}
