package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestHints(t *testing.T) {
	t.Run("has hints only for reasons that exist", hasHintsOnlyForReasonsThatExist)
}

func hasHintsOnlyForReasonsThatExist(t *testing.T) {
	known := refusals(t)
	for reason := range connect.Hints {
		if !slices.ContainsFunc(known, func(r refusal) bool { return r.reason == reason }) {
			t.Errorf("there is no reason %s", reason)
		}
	}
}

// missingField returns the server's error for a performance that no source has.
func missingField(t *testing.T, field, nodeType string) error {
	t.Helper()
	says := `must be set: node type "` + nodeType + `" has no ratio yet`
	s, err := status.New(codes.InvalidArgument, field+" "+says).WithDetails(
		&errdetails.ErrorInfo{Reason: "INVALID_ARGUMENT", Domain: "workload-resizer.io"},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: field, Description: says}}})
	if err != nil {
		t.Fatal(err)
	}
	return s.Err()
}

// failure is a command line, and the server's error.
type failure struct {
	args []string
	err  error
	// method is the only one that fails; empty for all of them.
	method string
}

func failures(t *testing.T) []failure {
	t.Helper()
	noRight := cmdtest.WithReason(codes.PermissionDenied, "NOT_AUTHORIZED", `user "ann" cannot do this; a RoleBinding to the ClusterRole workload-resizer-operator allows it`)
	noPod := cmdtest.WithReason(codes.NotFound, "POD_NOT_FOUND", `there is no pod "web" in namespace "default"`)
	noType := cmdtest.WithReason(codes.NotFound, "NODE_TYPE_UNKNOWN", `node type "n5" has no ratio`)
	hidden := cmdtest.WithReason(codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", `you cannot get pods in namespace "shop"`)
	standalone := func(method string) error {
		return cmdtest.WithReason(codes.Unimplemented, "STANDALONE", "this server runs standalone, without a cluster; use a server with a cluster for /workloadresizer.v1."+method)
	}
	readOnly := cmdtest.WithReason(codes.FailedPrecondition, "READ_ONLY", "the server runs with --dry-run")
	return []failure{
		{args: []string{"ratios", "list"}, err: noRight},
		{args: []string{"ratios", "get", "n5"}, err: noType},
		{args: []string{"ratios", "set", "n5=1.08", "--yes"}, err: noType},
		{args: []string{"ratios", "set", "n5=1.08", "--create", "--yes"}},
		{args: []string{"ratios", "set", "n4=1.08", "--yes"}, err: cmdtest.WithReason(codes.Aborted, "ETAG_MISMATCH", "the ratio of n4 has changed"), method: "BatchUpdateOverrides"},
		{args: []string{"ratios", "set", "n4=125", "--yes"}, err: cmdtest.WithReason(codes.FailedPrecondition, "IMPLAUSIBLE_RATIO", "n4 would not be used: n4 would be 125 times as fast as n2d for cpu, beyond maxSpeedRatio 5: correct the ratio of n4 (from override) or of n2d (from configmap), or raise maxSpeedRatio in config.yaml"), method: "BatchUpdateOverrides"},
		{args: []string{"ratios", "delete", "n4", "--yes"}, err: cmdtest.WithReason(codes.NotFound, "NO_OVERRIDE", `node type "n4" has no override`)},
		{args: []string{"ratios", "list"}, err: cmdtest.WithReason(codes.Aborted, "TABLE_CHANGED", "the ratio table has changed since the previous page: list again from the first page")},
		{args: []string{"ratios", "watch"}, err: noRight},
		{args: []string{"ratios", "history"}, err: standalone("OverrideService/ListOverrideChanges")},
		{args: []string{"ratios", "rollback", "--to", "1", "--yes"}, err: cmdtest.WithReason(codes.OutOfRange, "CHANGE_NOT_KEPT", "change 1 is no longer kept")},
		{args: []string{"benchmark", "import", "benchmarks/testdata/benchmark/samples.jsonl"}, err: readOnly},
		{args: []string{"benchmark", "import", "benchmarks/testdata/benchmark/samples.jsonl"}, err: cmdtest.WithReason(codes.FailedPrecondition, "SAMPLES_NOT_WRITABLE", "ConfigMap ns/samples-3, which stores the samples, does not exist: apply deploy/base, which creates it")},
		{args: []string{"benchmark", "import", "benchmarks/testdata/benchmark/samples.jsonl"}, err: cmdtest.WithReason(codes.Unavailable, "SAMPLES_NOT_STORED", "ConfigMap ns/samples-3 cannot be written: the API server does not respond")},
		{args: []string{"benchmark", "import", "no-such-file.csv"}},
		{args: []string{"benchmark", "list"}, err: standalone("BenchmarkService/ListBenchmarks")},
		{args: []string{"benchmark", "list"}, err: cmdtest.WithReason(codes.Unavailable, "BENCHMARKS_NOT_READY", "not ready: the benchmark settings are not read yet")},
		{args: []string{"ratios", "suggest"}, err: cmdtest.WithReason(codes.FailedPrecondition, "BENCHMARKS_DISABLED", "the server does not use benchmarks: start it with --ratio-sources=override,configmap,benchmark,production")},
		{args: []string{"ratios", "suggest", "x9"}, err: cmdtest.WithReason(codes.NotFound, "NO_SUGGESTION", `neither benchmarks nor production cover node type "x9"`)},
		{args: []string{"benchmark", "feeds"}, err: noRight},
		{args: []string{"benchmark", "feeds", "passmark"}},
		{args: []string{"ratios", "suggest", "n4"}, err: cmdtest.WithReason(codes.Unavailable, "CACHE_NOT_READY", "pods are not read yet")},
		{args: []string{"benchmark", "accept", "e2", "--yes"}},
		{args: []string{"benchmark", "accept", "c3", "--yes"}},
		{args: []string{"benchmark", "accept", "n4", "--yes"}, err: cmdtest.WithReason(codes.Aborted, "ETAG_MISMATCH", "the ratio of n4 has changed"), method: "UpdateOverride"},
		{args: []string{"export", "-f", "testdata", "-n", "shop"}, err: hidden},
		{args: []string{"usage"}, err: cmdtest.WithReason(codes.FailedPrecondition, "USAGE_DISABLED", "the server uses no sources of usage: start it with --usage-sources=metrics")},
		{args: []string{"usage", "-n", "shop"}, err: hidden},
		{args: []string{"usage", "-A"}, err: standalone("UsageService/ListRecommendations")},
		{args: []string{"usage", "deploy/web"}},
		{args: []string{"usage", "web-6d4cf56db6-x2x7p"}},
		{args: []string{"usage", "explain", "deploy/web"}, err: cmdtest.WithReason(codes.NotFound, "USAGE_UNKNOWN", "the usage of workload default/Deployment/web is not known: the server knows no pod of it, and nothing was measured of it in the time that history is kept for")},
		{args: []string{"usage", "history", "deploy/web", "-c", "app"}, err: cmdtest.WithReason(codes.NotFound, "USAGE_UNKNOWN", "the usage of container default/Deployment/web/app is not known: nothing was measured of it in the time that history is kept for")},
		{args: []string{"usage", "savings", "-n", "shop"}, err: hidden},
		{args: []string{"usage", "sources"}, err: noRight},
		{args: []string{"usage", "sources"}, err: status.Error(codes.Unimplemented, "unknown service workloadresizer.v1.UsageService")},
		{args: []string{"plan", "web"}, err: noPod},
		{args: []string{"plan", "-n", "shop"}, err: hidden},
		{args: []string{"plan", "-A"}, err: cmdtest.WithReason(codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "4 previews of many pods are already running")},
		{args: []string{"plan", "-A"}, err: cmdtest.WithReason(codes.ResourceExhausted, "PREVIEW_TOO_SLOW", "the client read nothing for 1m0s")},
		{args: []string{"plan", "-l", "app=web"}, err: cmdtest.WithReason(codes.Unavailable, "CACHE_NOT_READY", "pods are not read yet")},
		{args: []string{"plan", "--what-if-ratio", "n5=1.08"}, err: missingField(t, "what_if.ratios[0].memory_perf", "n5")},
		{args: []string{"plan", "-f", "hints_test.go"}, err: noType},
		{args: []string{"explain", "web"}, err: noPod},
		{args: []string{"resizes", "list", "-n", "shop"}, err: hidden},
		{args: []string{"resizes", "list", "-A"}, err: cmdtest.WithReason(codes.ResourceExhausted, "TOO_MANY_NAMESPACES", "there are too many namespaces to check")},
		{args: []string{"resizes", "get", "web"}, err: cmdtest.WithReason(codes.NotFound, "NOT_RESIZED", `pod "web" was never sized`)},
		{args: []string{"resizes", "watch", "-n", "shop"}, err: hidden},
		{args: []string{"history", "list", "-n", "shop"}, err: hidden},
		{args: []string{"history", "list", "-A"}, err: standalone("JournalService/ListEntries")},
		{args: []string{"history", "list"}, err: status.Error(codes.Unimplemented, "unknown service workloadresizer.v1.JournalService")},
		{args: []string{"history", "watch"}, err: cmdtest.WithReason(codes.Unavailable, "CACHE_NOT_READY", "the journal is not read yet")},
		{args: []string{"workloads", "list"}, err: cmdtest.WithReason(codes.FailedPrecondition, "USAGE_DISABLED", "the server uses no sources of usage: start it with --usage-sources=metrics")},
		{args: []string{"workloads", "list", "-n", "shop"}, err: hidden},
		{args: []string{"workloads", "list", "-A"}, err: standalone("ClusterService/ListWorkloads")},
		{args: []string{"workloads", "list"}, err: status.Error(codes.Unimplemented, "unknown service workloadresizer.v1.ClusterService")},
		{args: []string{"nodes", "list"}, err: noRight},
		{args: []string{"nodes", "list"}, err: cmdtest.WithReason(codes.Unavailable, "CACHE_NOT_READY", "pods are not read yet")},
		{args: []string{"console", "--no-open"}, err: standalone("StatusService/GetStatus")},
		{args: []string{"status"}, err: standalone("StatusService/GetStatus")},
		{args: []string{"pause", "web"}, err: readOnly},
		{args: []string{"restore", "web"}, err: noPod},
		{args: []string{"resume", "web"}, err: cmdtest.WithReason(codes.FailedPrecondition, "HELD_BY_WIDER_SCOPE", "the pause of namespace default covers the pod")},
		{args: []string{"holds", "-n", "shop"}, err: hidden},
		{args: []string{"freeze", "--yes"}, err: noRight},
		{args: []string{"unfreeze", "--yes"}, err: readOnly},
	}
}

// Errors say what to do next.
func TestErrors(t *testing.T) {
	usageUnknown := cmdtest.Scripts(cmdtest.Returns(&workloadresizerv1.ListRecommendationsResponse{}),
		cmdtest.Fails("GetRecommendation", cmdtest.WithReason(codes.NotFound, "USAGE_UNKNOWN", "the usage of workload default/Deployment/web is not known: the server knows no pod of it, and nothing was measured of it in the time that history is kept for")))
	var all strings.Builder
	missing := maps.Clone(connect.Hints)
	unseen := commands(t)
	for _, name := range asksNobody {
		delete(unseen, name)
	}
	for _, failure := range failures(t) {
		server := &cmdtest.Fake{Err: failure.err}
		if failure.err == nil || failure.method != "" {
			server = cmdtest.Answering(known(), written(), usageUnknown)
		}
		if failure.method != "" {
			server.Follow(cmdtest.Fails(failure.method, failure.err))
		}
		args := append(failure.args, "--server", server.Serve(t))
		code, stdout, stderr := program.Shell(t.Context(), args...)
		if code != command.ExitError || stdout != "" {
			t.Errorf("%q: exit %d, stdout %q", args, code, stdout)
		}
		line := strings.Join(failure.args, " ")
		all.WriteString("$ resizectl " + line + "\n" + stderr + "\n")
		for reason, hint := range connect.Hints {
			if strings.Contains(stderr, hint) {
				delete(missing, reason)
			}
		}
		for name := range unseen {
			if strings.HasPrefix(line+" ", name+" ") {
				delete(unseen, name)
			}
		}
	}
	cmdtest.Golden(t, "errors.txt", all.String())
	if len(missing) > 0 || len(unseen) > 0 {
		t.Errorf("not seen: hints %v, commands %v", slices.Sorted(maps.Keys(missing)), slices.Sorted(maps.Keys(unseen)))
	}
}
