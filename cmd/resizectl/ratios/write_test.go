package ratios

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type (
	ratioOf    = workloadresizerv1.Ratio
	overrideOf = workloadresizerv1.Override
	updateOf   = workloadresizerv1.UpdateOverrideRequest
	batch      = workloadresizerv1.BatchUpdateOverridesRequest
)

// onRatios returns the command line of a verb of ratios with flags.
func onRatios(verb []string, flags ...string) []string {
	return slices.Concat([]string{"ratios"}, verb, flags)
}

// hiddenOfImpact is the warning about what the scripted server's impact leaves out.
const hiddenOfImpact = "warning: affected pods in namespaces that you cannot see are left out: you do not have the right to get pods in all namespaces\n"

// mask names the fields to change.
func mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// tried returns a request as it is sent first, to validate only, and then for real.
func tried(req proto.Message) []proto.Message {
	fields := req.ProtoReflect().Descriptor().Fields()
	req.ProtoReflect().Set(fields.ByName("author"), protoreflect.ValueOfString(connect.Author()))
	first := proto.Clone(req)
	first.ProtoReflect().Set(fields.ByName("validate_only"), protoreflect.ValueOfBool(true))
	return []proto.Message{first, req}
}

// The write matches what was shown: the dry run and the write are the same except for
// validate_only, and have the etags that were read.
func TestRatiosWrites(t *testing.T) {
	for _, tc := range []struct {
		golden string
		args   []string
		asked  proto.Message
	}{
		{"ratios-set", []string{"set", "n4", "--cpu", "1.2", "--reason", "as measured"},
			&batch{Reason: "as measured", Requests: []*updateOf{{Override: &overrideOf{NodeType: "n4", CpuPerf: new(1.2)}, RatioEtag: "before", UpdateMask: mask("cpu_perf"), AllowMissing: true}}}},
		{"ratios-set-both", []string{"set", "n4", "--cpu", "1.2", "--memory", "0.9"},
			&batch{Requests: []*updateOf{{Override: &overrideOf{NodeType: "n4", CpuPerf: new(1.2), MemoryPerf: new(0.9)}, RatioEtag: "before", UpdateMask: mask("cpu_perf", "memory_perf"), AllowMissing: true}}}},
		{"ratios-set-several", []string{"set", "n4=1.2", "c3=0.98/1.1", "n2d=/1.5"}, &batch{Requests: []*updateOf{
			{Override: &overrideOf{NodeType: "n4", CpuPerf: new(1.2)}, RatioEtag: "before", UpdateMask: mask("cpu_perf"), AllowMissing: true},
			{Override: &overrideOf{NodeType: "c3", CpuPerf: new(0.98), MemoryPerf: new(1.1)}, RatioEtag: "none-c3", UpdateMask: mask("cpu_perf", "memory_perf"), AllowMissing: true},
			{Override: &overrideOf{NodeType: "n2d", MemoryPerf: new(1.5)}, RatioEtag: "none-n2d", UpdateMask: mask("memory_perf"), AllowMissing: true},
		}}},
		{"ratios-set-new", []string{"set", "n5=1.5/1.25", "--create"}, &batch{Requests: []*updateOf{
			{Override: &overrideOf{NodeType: "n5", CpuPerf: new(1.5), MemoryPerf: new(1.25)}, RatioEtag: client.NoEtag, UpdateMask: mask("cpu_perf", "memory_perf"), AllowMissing: true, AllowNewNodeType: true}}}},
		{"ratios-set-model", []string{"set", "n4@Intel-6-79=0.9/1", "--create"}, &batch{Requests: []*updateOf{
			{Override: &overrideOf{NodeType: "n4@Intel-6-79", CpuPerf: new(0.9), MemoryPerf: new(1.0)}, RatioEtag: client.NoEtag, UpdateMask: mask("cpu_perf", "memory_perf"), AllowMissing: true, AllowNewNodeType: true}}}},
		{"ratios-set-until", []string{"set", "c3=1.2", "--until", "2026-11-22T02:00:00+01:00"}, &batch{Requests: []*updateOf{
			{Override: &overrideOf{NodeType: "c3", CpuPerf: new(1.2), ExpireTime: timestamppb.New(time.Date(2026, 11, 22, 1, 0, 0, 0, time.UTC))}, RatioEtag: "none-c3", UpdateMask: mask("cpu_perf", "expire_time"), AllowMissing: true}}}},
		{"ratios-set-never", []string{"set", "n4", "--until", "never", "--etag", "mine"}, &batch{Requests: []*updateOf{
			{Override: &overrideOf{NodeType: "n4"}, RatioEtag: "mine", UpdateMask: mask("expire_time"), AllowMissing: true}}}},
		{"ratios-delete", []string{"delete", "n4", "--reason", "as configured"},
			&workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", RatioEtag: "before", Reason: "as configured"}},
		{"ratios-delete-last", []string{"delete", "c3", "--ignore-not-found", "--etag", "mine"},
			&workloadresizerv1.DeleteOverrideRequest{NodeType: "c3", RatioEtag: "mine", AllowMissing: true}},
		{"ratios-rollback", []string{"rollback", "--to", "1", "--reason", "as it was"},
			&workloadresizerv1.RollbackOverridesRequest{ToChange: new(int64(1)), ExpectedNewestChange: new(int64(4)), Reason: "as it was"}},
		{"ratios-rollback", []string{"rollback", "--to", "0"},
			&workloadresizerv1.RollbackOverridesRequest{ToChange: new(int64(0)), ExpectedNewestChange: new(int64(4))}},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			server := newWritable()
			code, stdout, stderr := program.Shell(t.Context(), onRatios(tc.args, "--server", server.Serve(t), "--yes")...)
			if code != command.ExitOK {
				t.Errorf("exit %d", code)
			}
			cmdtest.Golden(t, tc.golden+".table", stdout)
			cmdtest.Golden(t, tc.golden+".preview", stderr)
			if diff := cmp.Diff(tried(tc.asked), server.Written(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	t.Run("sets ratios for a limited time", setsRatiosForALimitedTime)
	t.Run("prints writes as documents", printsWritesAsDocuments)
	t.Run("does not ask for confirmation without a change", doesNotAskForConfirmationWithoutAChange)
	t.Run("fails if another change came first", failsIfAnotherChangeCameFirst)
}

func setsRatiosForALimitedTime(t *testing.T) {
	server := newWritable()
	begin := time.Now()
	code, _, stderr := program.Shell(t.Context(), "ratios", "set", "n4=1.2", "--for", "90m", "--yes", "--server", server.Serve(t))
	if code != command.ExitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	end := server.LastRequest().(*batch).GetRequests()[0].GetOverride().GetExpireTime().AsTime()
	if end.Before(begin.Add(90*time.Minute)) || end.After(time.Now().Add(90*time.Minute+time.Second)) || end.Nanosecond() != 0 {
		t.Errorf("ends %v after the start", end.Sub(begin))
	}
}

func TestRatiosDryRun(t *testing.T) {
	for _, args := range [][]string{{"set", "n4=1.2", "c3=1.4"}, {"delete", "n4"}, {"rollback", "--to", "1"}} {
		for _, output := range print.Formats {
			server := newWritable()
			asked := onRatios(args, "-o", output, "--server", server.Serve(t), "--dry-run")
			code, stdout, stderr := program.Shell(t.Context(), asked...)
			if code != command.ExitDifferences || stderr != hiddenOfImpact {
				t.Errorf("%q -o %s: exit %d, stderr %q; want 1 and %q", args, output, code, stderr, hiddenOfImpact)
			}
			cmdtest.Golden(t, "ratios-"+args[0]+"-dry-run."+output, stdout)
			if n := len(server.Written()); n != 1 {
				t.Errorf("%q: %d requests", args, n)
			}
			server.impact = &workloadresizerv1.Impact{Total: &workloadresizerv1.ImpactGroup{}}
			code, stdout, stderr = program.Shell(t.Context(), append(asked, "--dry-run=server")...)
			if code != command.ExitOK || stderr != "" || (output == "table" || output == "wide") && !strings.HasSuffix(stdout, "\nno pod would get a different size\n") {
				t.Errorf("%q -o %s without an impact: exit %d, stdout %q, stderr %q", args, output, code, stdout, stderr)
			}
		}
	}
}

func printsWritesAsDocuments(t *testing.T) {
	for _, args := range [][]string{{"set", "n4=1.2"}, {"delete", "n4"}, {"rollback", "--to", "1"}} {
		for _, output := range []string{"json", "yaml"} {
			code, stdout, stderr := program.Shell(t.Context(), onRatios(args, "--server", newWritable().Serve(t), "--yes", "-o", output)...)
			if code != command.ExitOK || !strings.Contains(stderr, "all pods") {
				t.Errorf("%q -o %s: exit %d, stderr %q; want the impact", args, output, code, stderr)
			}
			cmdtest.Golden(t, "ratios-"+args[0]+"."+output, stdout)
		}
	}
}

func doesNotAskForConfirmationWithoutAChange(t *testing.T) {
	for _, args := range [][]string{{"set", "n4=1.08"}, {"delete", "c3", "--ignore-not-found"}, {"rollback", "--to", "3"}} {
		server := newWritable()
		server.unchanged = true
		code, stdout, stderr := program.Shell(t.Context(), onRatios(args, "--server", server.Serve(t), "--yes")...)
		if code != command.ExitOK || stdout != "" || stderr != "nothing to change: the overrides are already as requested\n" || len(server.Written()) != 1 {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, %d requests", args, code, stdout, stderr, len(server.Written()))
		}
	}
}

func failsIfAnotherChangeCameFirst(t *testing.T) {
	want := "error: another change came first, so nothing was changed: n4 was changed by bob; " +
		"see the latest changes with \"resizectl ratios history\", and run the command again if your change is still right\n"
	for _, args := range [][]string{{"set", "n4=1.2"}, {"delete", "n4"}, {"rollback", "--to", "1"}} {
		server := newWritable()
		server.refused = cmdtest.WithReason(codes.Aborted, "ETAG_MISMATCH", "n4 was changed by bob")
		code, stdout, stderr := program.Shell(t.Context(), onRatios(args, "--server", server.Serve(t), "--yes")...)
		if code != command.ExitError || stdout != "" || !strings.HasSuffix(stderr, want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want %q last", args, code, stdout, stderr, want)
		}
	}
}

func TestRatiosWriteUsage(t *testing.T) {
	server := newWritable()
	address := server.Serve(t)
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{"set without a terminal", "ratios set requires --yes if standard input is not a terminal", []string{"set", "n4=1.2"}},
		{"delete without a terminal", "ratios delete requires --yes if standard input is not a terminal", []string{"delete", "n4"}},
		{"rollback without a terminal", "ratios rollback requires --yes if standard input is not a terminal", []string{"rollback", "--to", "1"}},
		{"nothing to set", "nothing to set for n4: use --cpu, --memory, --for or --until", []string{"set", "n4"}},
		{"no node type", "missing arguments: expected NODE_TYPE [--cpu X] [--memory X] | NODE_TYPE=CPU[/MEMORY] ...", []string{"set", "--cpu", "1"}},
		{"an empty node type", "must be NODE_TYPE=CPU or NODE_TYPE=CPU/MEMORY, such as n4=1.08/1.0, not \"\"", []string{"set", "", "--until", "never"}},
		{"an empty value", "must be NODE_TYPE=CPU or NODE_TYPE=CPU/MEMORY, such as n4=1.08/1.0, not \"n4=\"", []string{"set", "n4="}},
		{"several node types without values", "must be NODE_TYPE=CPU or NODE_TYPE=CPU/MEMORY, such as n4=1.08/1.0, not \"n4\"", []string{"set", "n4", "c3"}},
		{"a value that is not numeric", "n4: must be a number above 0, such as 1.08, not \"fast\"", []string{"set", "n4=fast"}},
		{"a value that is not above 0", "must be a number above 0, such as 1.08, not \"0\"", []string{"set", "n4", "--cpu", "0"}},
		{"a value that is not a number", "n4: must be a number above 0, such as 1.08, not \"NaN\"", []string{"set", "n4=1/NaN"}},
		{"an infinite value", "n4: must be a number above 0, such as 1.08, not \"Inf\"", []string{"set", "n4=Inf"}},
		{"one value for several node types", "--cpu and --memory require a single NODE_TYPE, without \"=\"", []string{"set", "n4", "c3", "--cpu", "1"}},
		{"a value twice", "--cpu and --memory require a single NODE_TYPE, without \"=\"", []string{"set", "n4=1", "--memory", "1"}},
		{"one etag for several node types", "--etag requires a single node type", []string{"set", "n4=1", "c3=1", "--etag", "a"}},
		{"a node type twice", "n4 is named twice", []string{"set", "n4=1", "n4=/1"}},
		{"two ends", "--for and --until cannot be combined", []string{"set", "n4=1", "--for", "1h", "--until", "never"}},
		{"a duration that is too short", "--for 1ms is less than a second; use --until never for no end", []string{"set", "n4=1", "--for", "1ms"}},
		{"an end that is not a time", "--until must be a time such as 2026-11-21T18:00:00Z, or never, not \"tomorrow\"", []string{"set", "n4=1", "--until", "tomorrow"}},
		{"an unknown value of --dry-run", "invalid argument \"client\" for \"--dry-run\" flag: must be one of none, server", []string{"set", "n4=1", "--dry-run=client"}},
		{"an empty node type to delete", "the node type is empty", []string{"delete", ""}},
		{"several node types to delete", "too many arguments: expected NODE_TYPE, not n4 c3", []string{"delete", "n4", "c3"}},
		{"a rollback without a change", "set --to to the last change to keep; \"resizectl ratios history\" lists the changes", []string{"rollback"}},
		{"a rollback to a negative change", "--to -1 is negative; 0 is the state before the first change", []string{"rollback", "--to", "-1"}},
		{"an empty node type to get", "the node type is empty", []string{"get", ""}},
		{"the history of an empty node type", "the node type is empty; omit it for all of them", []string{"history", ""}},
		{"a negative limit", "--limit -1 is negative; use 0 for no limit", []string{"history", "--limit", "-1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"ratios", "--server", address}, tc.args...)...)
			want := "error: " + tc.want + "; see \"resizectl ratios " + tc.args[0] + " --help\"\n"
			if code != command.ExitError || stdout != "" || stderr != want {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
			}
		})
	}
	if asked := server.LastRequest(); asked != nil {
		t.Errorf("the server received %v", asked)
	}
}
