package overrides

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/override"
)

func TestPatch(t *testing.T) {
	now := time.Date(2026, 11, 21, 1, 2, 3, 4, time.UTC)
	hour := now.Add(time.Hour)
	two, three, never, end := 2.0, 3.0, time.Time{}, hour.Truncate(time.Second)
	full := &workloadresizerv1.Override{NodeType: "n4", CpuPerf: &two, MemoryPerf: &three, ExpireTime: timestamppb.New(hour), Etag: "e"}
	mask := func(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }
	for _, tc := range []struct {
		name     string
		override *workloadresizerv1.Override
		mask     *fieldmaskpb.FieldMask
		want     override.Patch
		wrong    string
	}{
		{"without a mask, the fields that are set", full, nil, override.Patch{NodeType: "n4", Etag: "e", CPUPerf: &two, MemoryPerf: &three, ExpireTime: &end}, ""},
		{"an empty mask is no mask", &workloadresizerv1.Override{NodeType: "n4", CpuPerf: &two}, mask(), override.Patch{NodeType: "n4", CPUPerf: &two}, ""},
		{"with a mask, the fields that it names", full, mask("memory_perf"), override.Patch{NodeType: "n4", Etag: "e", MemoryPerf: &three}, ""},
		{"no expiry", &workloadresizerv1.Override{NodeType: "n4"}, mask("expire_time"), override.Patch{NodeType: "n4", ExpireTime: &never}, ""},
		{"a path twice", full, mask("cpu_perf", "cpu_perf"), override.Patch{NodeType: "n4", Etag: "e", CPUPerf: &two}, ""},
		{"an unknown field", full, mask("cpu_perf", "speed"), override.Patch{}, "requests[2].update_mask names a field that an override does not have"},
		{"a wildcard", full, mask("*"), override.Patch{}, "requests[2].update_mask names a field that an override does not have"},
		{"an output-only field", full, mask("author"), override.Patch{}, "requests[2].update_mask names author, which cannot be changed"},
		{"the node type", full, mask("node_type"), override.Patch{}, "requests[2].update_mask names node_type, which cannot be changed"},
		{"no field at all", &workloadresizerv1.Override{NodeType: "n4"}, nil, override.Patch{}, "requests[2].update_mask must name the fields to change"},
		{"a performance that is named but not set", &workloadresizerv1.Override{NodeType: "n4"}, mask("cpu_perf"), override.Patch{}, "requests[2].override.cpu_perf must be set, because update_mask names it"},
		{"an expiry in the past", &workloadresizerv1.Override{NodeType: "n4", ExpireTime: timestamppb.New(now)}, nil, override.Patch{}, "requests[2].override.expire_time must be in the future"},
		{"an invalid expiry", &workloadresizerv1.Override{NodeType: "n4", ExpireTime: &timestamppb.Timestamp{Seconds: math.MaxInt64}}, nil, override.Patch{}, "requests[2].override.expire_time must be in the future"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, wrong := patchOf(&workloadresizerv1.UpdateOverrideRequest{Override: tc.override, UpdateMask: tc.mask}, "requests[2].", now)
			if tc.wrong != "" {
				if len(wrong) != 1 || !strings.HasPrefix(wrong[0].Field+" "+wrong[0].Problem, tc.wrong) {
					t.Errorf("wrong: %v, want %s", wrong, tc.wrong)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(wrong) > 0 {
				t.Error(diff, wrong)
			}
		})
	}
}
