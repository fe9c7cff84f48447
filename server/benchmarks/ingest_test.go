package benchmarks

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// fleet has nodes with the labels of cloud providers.
var fleet = map[string]map[string]string{
	"google":   {nodetype.LabelGCPMachineFamily: "n4", nodetype.LabelInstanceType: "n4-standard-8", nodetype.LabelOwnCPUModel: "Intel-6-207"},
	"amazon":   {nodetype.LabelInstanceType: "m7i.large"},
	"nameless": {"pool": "fast"},
}

func TestIngest(t *testing.T) {
	t.Run("validates each sample separately", validatesEachSampleSeparately)
	t.Run("stores all fields of a sample", storesAllFieldsOfASample)
	t.Run("samples can be sent again", samplesCanBeSentAgain)
	t.Run("limits the errors of bad samples", limitsTheErrorsOfBadSamples)
	t.Run("returns why samples are not stored", returnsWhySamplesAreNotStored)
}

func validatesEachSampleSeparately(t *testing.T) {
	m := servertest.NewMeasured()
	client := measuring(t, m, fleet)
	const invalid, unknown = workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_INVALID, workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_NODE_UNKNOWN
	cases := []struct {
		name           string
		change         func(*workloadresizerv1.BenchmarkSample)
		code           workloadresizerv1.SampleErrorCode
		field, message string
	}{
		{"good", func(*workloadresizerv1.BenchmarkSample) {}, 0, "", ""},
		{"of a node", func(s *workloadresizerv1.BenchmarkSample) { s.NodeType, s.Machine, s.Node = "", "", "google" }, 0, "", ""},
		{"of an instance type", func(s *workloadresizerv1.BenchmarkSample) { s.NodeType, s.InstanceType = "", "n4-standard-8" }, 0, "", ""},
		{"of a node type and an instance type", func(s *workloadresizerv1.BenchmarkSample) { s.InstanceType = "c3-standard-8" }, 0, "", ""},
		{"of an unknown node", func(s *workloadresizerv1.BenchmarkSample) { s.NodeType, s.Node = "", "gone" }, unknown, "node", `"gone" is not known`},
		{"of a node without a type", func(s *workloadresizerv1.BenchmarkSample) { s.NodeType, s.Node = "", "nameless" }, invalid, "node", "no label that determines its type"},
		{"of a node and a node type", func(s *workloadresizerv1.BenchmarkSample) { s.Node = "google" }, invalid, "node", "must not be set together with node_type"},
		{"of a node and an instance type", func(s *workloadresizerv1.BenchmarkSample) {
			s.NodeType, s.InstanceType, s.Node = "", "n4-standard-8", "google"
		}, invalid, "node", "must not be set together with"},
		{"of nothing", func(s *workloadresizerv1.BenchmarkSample) { s.NodeType = "" }, invalid, "node_type", "must be set, unless node or instance_type is set"},
		{"of an instance type without a family", func(s *workloadresizerv1.BenchmarkSample) { s.NodeType, s.InstanceType = "", "custom" }, invalid, "instance_type", `"custom" does not determine a node type`},
		{"of a node type with its CPU model", func(s *workloadresizerv1.BenchmarkSample) { s.NodeType = "e2@Intel-6-79" }, invalid, "node_type", "must be up to 63 letters"},
		{"without an id", func(s *workloadresizerv1.BenchmarkSample) { s.Id = "" }, invalid, "id", "must be set"},
		{"without a machine", func(s *workloadresizerv1.BenchmarkSample) { s.Machine = "" }, invalid, "machine", "must be set"},
		{"without a time", func(s *workloadresizerv1.BenchmarkSample) { s.MeasureTime = nil }, invalid, "measure_time", "must be set"},
		{"of an invalid time", func(s *workloadresizerv1.BenchmarkSample) { s.MeasureTime = &timestamppb.Timestamp{Nanos: -1} }, invalid, "measure_time", "is not a valid time"},
		{"of the future", func(s *workloadresizerv1.BenchmarkSample) { s.MeasureTime = timestamppb.New(time.Now().Add(time.Hour)) }, invalid, "measure_time", "must not be in the future"},
		{"without a score", func(s *workloadresizerv1.BenchmarkSample) { s.Score = 0 }, invalid, "score", "must be a number above 0"},
		{"with a score that is not a number", func(s *workloadresizerv1.BenchmarkSample) { s.Score = math.NaN() }, invalid, "score", "must be a number above 0"},
		{"with a bad score of one thread", func(s *workloadresizerv1.BenchmarkSample) { s.SingleThreadScore = new(math.Inf(1)) }, invalid, "single_thread_score", "must be a number above 0"},
		{"with more threads per core than any CPU has", func(s *workloadresizerv1.BenchmarkSample) { s.ThreadsPerCore = new(int32(9)) }, invalid, "threads_per_core", "must be 1 to 8"},
		{"with a CPU model that is not a valid label value", func(s *workloadresizerv1.BenchmarkSample) { s.CpuModel = "Intel Xeon" }, invalid, "cpu_model", "must be up to 63 letters"},
		{"on only some of the vCPUs", func(s *workloadresizerv1.BenchmarkSample) { s.Threads = 4 }, invalid, "threads", "only runs on all vCPUs are compared"},
		{"with several faults", func(s *workloadresizerv1.BenchmarkSample) { s.Score, s.Vcpus, s.Threads = -1, 0, 0 }, invalid, "", "score must be a number above 0, not -1; vcpus must be 1 to 4096, not 0"},
	}
	// Several messages: the index continues across them.
	var parts [][]*workloadresizerv1.BenchmarkSample
	var all []*workloadresizerv1.BenchmarkSample
	for _, tc := range cases {
		s := servertest.Sampled(tc.name, time.Hour)
		tc.change(s)
		all = append(all, s)
	}
	for chunk := range slices.Chunk(all, 5) {
		parts = append(parts, chunk)
	}
	response, err := servertest.Ingest(t.Context(), client, false, parts...)
	if err != nil {
		t.Fatal(err)
	}
	told := map[int64]*workloadresizerv1.SampleError{}
	for _, e := range response.GetErrors() {
		told[e.GetIndex()] = e
	}
	good := int64(0)
	for i, tc := range cases {
		got := told[int64(i)]
		if tc.code == 0 {
			good++
		}
		if got.GetCode() != tc.code || got.GetField() != tc.field || !strings.Contains(got.GetMessage(), tc.message) || got != nil && got.GetId() != all[i].GetId() {
			t.Errorf("%s: %v, want %v for %q: %s", tc.name, got, tc.code, tc.field, tc.message)
		}
	}
	if response.GetStored() != good || response.GetRejected() != int64(len(cases))-good || int64(m.Size()) != good {
		t.Errorf("%d are good, stored %d, response %v", good, m.Size(), response)
	}
}

func storesAllFieldsOfASample(t *testing.T) {
	m := servertest.NewMeasured()
	client := measuring(t, m, fleet)
	full := &workloadresizerv1.BenchmarkSample{
		Id: "full", InstanceType: "Standard_D8as_v5", CpuModel: "AMD-25-1", Benchmark: "passmark:cpu_mark", Version: "11", Score: 2, Unit: "marks",
		Vcpus: 8, Threads: 1, SingleThreadScore: new(3.0), Runs: new(int32(140)), Machine: "row-1", MeasureTime: timestamppb.New(servertest.Written.Add(time.Second)), SpotCheck: true, Source: "table",
	}
	onNode := func(id, node, model string) *workloadresizerv1.BenchmarkSample {
		s := servertest.Sampled(id, time.Hour)
		s.NodeType, s.Machine, s.Node, s.CpuModel = "", "anything", node, model
		return s
	}
	if _, err := servertest.Ingest(t.Context(), client, false, []*workloadresizerv1.BenchmarkSample{full, onNode("a", "google", ""), onNode("b", "google", "AMD-25-1"), onNode("c", "amazon", "")}); err != nil {
		t.Fatal(err)
	}
	node := func(id, nodeType, name, model, instanceType string) sample.Sample {
		return sample.Sample{ID: id, NodeType: nodeType, InstanceType: instanceType, CPUModel: model, Benchmark: "coremark", Score: 177656, VCPUs: 8, Threads: 8, Machine: name, Source: "import", Time: servertest.Written.Add(time.Hour)}
	}
	want := map[string]sample.Sample{
		"Das_v5 full": {
			ID: "full", NodeType: "Das_v5", InstanceType: "Standard_D8as_v5", CPUModel: "AMD-25-1", Benchmark: "passmark:cpu_mark", Version: "11", Score: 2, Unit: "marks",
			VCPUs: 8, Threads: 1, SingleThread: 3, Runs: 140, Machine: "row-1", Source: "table", Time: servertest.Written.Add(time.Second), Spot: true,
		},
		"n4 a":  node("a", "n4", "google", "Intel-6-207", ""),
		"n4 b":  node("b", "n4", "google", "AMD-25-1", ""),
		"m7i c": node("c", "m7i", "amazon", "", "m7i.large"),
	}
	if diff := cmp.Diff(want, m.Kept); diff != "" {
		t.Error(diff)
	}
}

func samplesCanBeSentAgain(t *testing.T) {
	m := servertest.NewMeasured()
	client := measuring(t, m, nil)
	part := []*workloadresizerv1.BenchmarkSample{servertest.Sampled("a", time.Hour), servertest.Sampled("b", time.Hour), servertest.Sampled("old", 0)}
	other := proto.CloneOf(part[0])
	other.Score++
	for _, tc := range []struct {
		name         string
		validateOnly bool
		part         []*workloadresizerv1.BenchmarkSample
		want         *workloadresizerv1.IngestSamplesResponse
	}{
		{"samples that are only validated are not stored", true, part, &workloadresizerv1.IngestSamplesResponse{Stored: 2, Old: 1}},
		{"new samples are stored", false, part, &workloadresizerv1.IngestSamplesResponse{Stored: 2, Old: 1}},
		{"known samples are not counted again", false, part, &workloadresizerv1.IngestSamplesResponse{Known: 2, Old: 1}},
		{"another sample with the same id is rejected", false, []*workloadresizerv1.BenchmarkSample{servertest.Sampled("b", time.Hour), other}, &workloadresizerv1.IngestSamplesResponse{Known: 1, Rejected: 1,
			Errors: []*workloadresizerv1.SampleError{{Index: 1, Id: "a", Code: workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_ID_CONFLICT, Field: "id", Message: "is already used by another sample of the node type: give each sample its own id"}}}},
		{"an empty stream is valid", false, nil, &workloadresizerv1.IngestSamplesResponse{}},
	} {
		before := m.Size()
		got, err := servertest.Ingest(t.Context(), client, tc.validateOnly, tc.part)
		if diff := cmp.Diff(tc.want, got, protocmp.Transform()); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", tc.name, err, diff)
		}
		if after := m.Size(); int64(after-before) != got.GetStored() && !tc.validateOnly || tc.validateOnly && after != before {
			t.Errorf("%s: stored %d, then %d", tc.name, before, after)
		}
	}
}

func limitsTheErrorsOfBadSamples(t *testing.T) {
	client := measuring(t, servertest.NewMeasured(), nil)
	huge := servertest.Sampled(strings.Repeat("é", 1<<20), time.Hour)
	huge.NodeType = strings.Repeat("é", 1<<19)
	parts := [][]*workloadresizerv1.BenchmarkSample{{huge}}
	for range 3 {
		parts = append(parts, slices.Repeat([]*workloadresizerv1.BenchmarkSample{{}}, 500))
	}
	response, err := servertest.Ingest(t.Context(), client, false, parts...)
	if err != nil {
		t.Fatal(err)
	}
	first := response.GetErrors()[0]
	if len(first.GetId()) > maxIDBytes || len(first.GetMessage()) > maxFaultBytes || !strings.HasSuffix(first.GetId(), "é…") {
		t.Errorf("the first error has %d and %d bytes", len(first.GetId()), len(first.GetMessage()))
	}
	if len(response.GetErrors()) != 100 || response.GetRejected() != 1501 || response.GetErrors()[99].GetIndex() != 99 {
		t.Errorf("%d errors of %d", len(response.GetErrors()), response.GetRejected())
	}
}

func TestAStreamHasAnEnd(t *testing.T) {
	m := servertest.NewMeasured()
	client := measuring(t, m, nil)
	part := make([]*workloadresizerv1.BenchmarkSample, 1000)
	for i := range part {
		part[i] = servertest.Sampled(fmt.Sprint(i), time.Hour)
	}
	full := slices.Repeat([][]*workloadresizerv1.BenchmarkSample{part}, 200)
	if response, err := servertest.Ingest(t.Context(), client, true, full...); err != nil || response.GetStored() != 200_000 {
		t.Errorf("200,000 samples: %v, %v", response, err)
	}
	_, err := servertest.Ingest(t.Context(), client, true, append(full, part[:1])...)
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "samples must be at most 200000 in one stream")
	_, err = servertest.Ingest(t.Context(), client, true, append(part, part[0]))
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "samples must contain no more than 1000 item")
}

func returnsWhySamplesAreNotStored(t *testing.T) {
	part := []*workloadresizerv1.BenchmarkSample{servertest.Sampled("a", time.Hour)}
	onNode := servertest.Sampled("b", time.Hour)
	onNode.NodeType, onNode.Node = "", "google"
	pods, nodes := servertest.ShopPods()
	for _, tc := range []struct {
		name            string
		of              servertest.Setup
		measured        *servertest.Measured
		validateOnly    bool
		part            []*workloadresizerv1.BenchmarkSample
		code            codes.Code
		reason, message string
	}{
		{"the source is not used", servertest.Setup{}, nil, false, part, codes.FailedPrecondition, "BENCHMARKS_DISABLED", "--ratio-sources=override,configmap,benchmark,production"},
		{"the source has not been read yet", servertest.Setup{}, &servertest.Measured{Unread: errors.New("samples-3 is not read")}, true, part, codes.Unavailable, "BENCHMARKS_NOT_READY", "samples-3 is not read"},
		{"a ConfigMap is missing", servertest.Setup{}, &servertest.Measured{Known: servertest.NewMeasured().Known, Err: fmt.Errorf("keep: %w", &hold.MissingError{Noun: "samples"})}, false, part, codes.FailedPrecondition, "SAMPLES_NOT_WRITABLE", "apply your manifests"},
		{"a ConfigMap is invalid", servertest.Setup{}, &servertest.Measured{Known: servertest.NewMeasured().Known, Err: &hold.ContentError{Err: errors.New("line 3")}}, false, part, codes.FailedPrecondition, "SAMPLES_NOT_WRITABLE", "line 3"},
		{"the API server refuses to change a ConfigMap", servertest.Setup{}, &servertest.Measured{Known: servertest.NewMeasured().Known, Err: &hold.RefusedError{Err: errors.New("forbidden")}}, false, part, codes.FailedPrecondition, "SAMPLES_NOT_WRITABLE", "forbidden"},
		{"the API server is unavailable", servertest.Setup{}, &servertest.Measured{Known: servertest.NewMeasured().Known, Err: errors.New("connection refused")}, false, part, codes.Unavailable, "SAMPLES_NOT_STORED", "connection refused"},
		{"nodes have not been read yet", servertest.Setup{}, servertest.NewMeasured(), true, []*workloadresizerv1.BenchmarkSample{onNode}, codes.Unavailable, "CACHE_NOT_READY", "not read yet"},
		{"a dry run stores nothing", servertest.Setup{Cluster: servertest.Frozen(t, pods, nodes), Loop: servertest.DryRun}, servertest.NewMeasured(), false, part, codes.FailedPrecondition, "READ_ONLY", "set validate_only"},
		{"a dry run validates samples", servertest.Setup{Cluster: servertest.Frozen(t, pods, nodes), Loop: servertest.DryRun}, servertest.NewMeasured(), true, part, codes.OK, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			client := serve(t, servertest.Start(t, tc.of), used(tc.measured), serving{})
			_, err := servertest.Ingest(t.Context(), client, tc.validateOnly, tc.part)
			if tc.code == codes.OK {
				if err != nil || tc.measured.Size() > 0 {
					t.Errorf("%v, stored %d", err, tc.measured.Size())
				}
				return
			}
			servertest.CheckError(t, err, tc.code, tc.reason, tc.message)
		})
	}
}
