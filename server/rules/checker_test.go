package rules_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/rules"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// check returns the error for a request.
func check(c *rules.Checker, request proto.Message) error {
	_, err := c.Unary(context.Background(), request, nil, func(context.Context, any) (any, error) { return nil, nil })
	return err
}

var shop = &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Namespace{Namespace: "shop"}}

// update returns a request to change an override.
func update(nodeType string, cpu, memory *float64) *workloadresizerv1.UpdateOverrideRequest {
	return &workloadresizerv1.UpdateOverrideRequest{Override: &workloadresizerv1.Override{NodeType: nodeType, CpuPerf: cpu, MemoryPerf: memory}}
}

// claim returns the claim of a node whose cores have that many threads.
func claim(threadsPerCore *int32) *workloadresizerv1.ClaimMeasurementRequest {
	return &workloadresizerv1.ClaimMeasurementRequest{Node: "n4-0", Vcpus: 8, ThreadsPerCore: threadsPerCore}
}

func TestChecker(t *testing.T) {
	t.Run("validates requests against the rules of the API", validatesRequestsAgainstTheRulesOfTheAPI)
}

func validatesRequestsAgainstTheRulesOfTheAPI(t *testing.T) {
	v := rules.New()
	long := strings.Repeat("x", 300)
	for _, tc := range []struct {
		name    string
		request proto.Message
		want    string
	}{
		{"a valid request", &workloadresizerv1.GetRatioRequest{NodeType: "n4"}, ""},
		{"a required text", &workloadresizerv1.GetRatioRequest{}, "node_type must be set"},
		{"a required message", &workloadresizerv1.UpdateOverrideRequest{}, "override must be set"},
		{"text that is too long", &workloadresizerv1.GetRatioRequest{NodeType: long}, "node_type must be at most 63 characters"},
		{"a node type that is not a valid label value", update("n 4", nil, nil), "override.node_type does not match regex pattern"},
		{"a number that is NaN", update("n4", new(math.NaN()), nil), "override.cpu_perf must be"},
		{"a negative number", update("n4", new(-1.0), nil), "override.cpu_perf must be"},
		{"zero, where it is not a value", update("n4", new(0.0), nil), "override.cpu_perf must be"},
		{"an item of a list", &workloadresizerv1.BatchUpdateOverridesRequest{Requests: []*workloadresizerv1.UpdateOverrideRequest{update("n4", nil, nil), {}}}, "requests[1].override must be set"},
		{"a list without items", &workloadresizerv1.BatchUpdateOverridesRequest{}, "requests must contain at least 1 item"},
		{"two faults", &workloadresizerv1.PreviewPodRequest{}, "namespace must be set; pod must be set"},
		{"an undefined enum value", &workloadresizerv1.ListResizesRequest{States: []workloadresizerv1.ResizeState{77}}, "states[0] must be one of the defined enum values"},
		{"an infinite number", update("n4", nil, new(math.Inf(1))), "override.memory_perf must be finite"},
		{"a node type without a name", update("", new(1.0), nil), "override.node_type must be set"},
		{"a node type with a CPU model", &workloadresizerv1.DeleteOverrideRequest{NodeType: "e2@Intel-6-79"}, ""},
		{"an invalid node type to delete", &workloadresizerv1.DeleteOverrideRequest{NodeType: "-"}, "node_type does not match regex pattern"},
		{"no node type to delete", &workloadresizerv1.DeleteOverrideRequest{}, "node_type must be set"},
		{"a list of too many items", &workloadresizerv1.BatchUpdateOverridesRequest{Requests: slices.Repeat([]*workloadresizerv1.UpdateOverrideRequest{update("n4", nil, nil)}, 501)}, "requests must contain no more than 500 item"},
		{"a rollback that does not say to which state", &workloadresizerv1.RollbackOverridesRequest{}, "to_change must be set"},
		{"negative numbers of changes", &workloadresizerv1.RollbackOverridesRequest{ToChange: new(int64(-1)), ExpectedNewestChange: new(int64(-1))}, "to_change must be greater than or equal to 0; expected_newest_change must be greater than or equal to 0"},
		{"an empty manifest", &workloadresizerv1.PreviewManifestRequest{}, "manifest must be set"},
		{"a pod without namespace and name", &workloadresizerv1.GetResizeRequest{}, "namespace must be set; pod must be set"},
		{"a page size above the maximum, which is capped", &workloadresizerv1.ListResizesRequest{PageSize: math.MaxInt32}, ""},
		{"a page of negative size", &workloadresizerv1.ListResizesRequest{PageSize: -1}, "page_size must be"},
		{"a scope that is missing", &workloadresizerv1.PauseRequest{}, "scope must be set"},
		{"a scope that names nothing", &workloadresizerv1.PauseRequest{Scope: &workloadresizerv1.HoldScope{}}, "scope must be set: all_namespaces, namespace, workload or pod"},
		{"a scope to resume that is missing", &workloadresizerv1.ResumeRequest{}, "scope must be set"},
		{"an empty workload is not its namespace", &workloadresizerv1.PauseRequest{Scope: &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Workload{Workload: &workloadresizerv1.NamespacedWorkload{Namespace: "shop"}}}}, "scope.workload.kind must be set; scope.workload.name must be set"},
		{"a hold to get without its kind", &workloadresizerv1.GetHoldRequest{Scope: shop}, "kind must be set"},
		{"an undefined kind of hold", &workloadresizerv1.ResumeRequest{Scope: shop, Kind: 7}, "kind must be one of the defined enum values"},
		{"holds of both kinds", &workloadresizerv1.ResumeRequest{Scope: shop}, ""},
		{"a hold of zero duration", &workloadresizerv1.PauseRequest{Scope: shop, Ttl: durationpb.New(0)}, "ttl must be"},
		{"a hold of invalid duration", &workloadresizerv1.RestoreRequest{Scope: shop, Ttl: &durationpb.Duration{Seconds: 1, Nanos: -1}}, "ttl must be"},
		{"a hold of negative duration", &workloadresizerv1.RestoreRequest{Scope: shop, Ttl: &durationpb.Duration{Seconds: math.MinInt64}}, "ttl must be"},
		{"a hold of a second", &workloadresizerv1.RestoreRequest{Scope: shop, Ttl: durationpb.New(time.Second)}, ""},
		{"a reason that is too long", &workloadresizerv1.PauseRequest{Scope: shop, Reason: strings.Repeat("a", 513)}, "reason must be at most 512 bytes"},
		{"a claim of a node of unknown threads per core", claim(nil), ""},
		{"a claim of a node whose cores have two threads", claim(new(int32(2))), ""},
		{"a claim of a node whose cores have no thread", claim(new(int32(0))), "threads_per_core must be"},
		{"a claim of a node whose cores have more threads than any", claim(new(int32(9))), "threads_per_core must be"},
		{"a request ID", &workloadresizerv1.PauseRequest{Scope: shop, RequestId: "2f1c4f2a-6a1d-4b2e-9d58-0d9f4f8f0a11"}, ""},
		{"a request ID that is not a UUID", &workloadresizerv1.PauseRequest{Scope: shop, RequestId: "mine"}, "request_id must be a valid UUID"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := check(v, tc.request)
			if tc.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", tc.want)
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	v := rules.New()
	request := &workloadresizerv1.GetRatioRequest{NodeType: "n4"}
	b.ReportAllocs()
	for b.Loop() {
		if err := check(v, request); err != nil {
			b.Fatal(err)
		}
	}
}
