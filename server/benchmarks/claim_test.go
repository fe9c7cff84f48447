package benchmarks

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/intake"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func TestClaim(t *testing.T) {
	t.Run("answers for nodes in the cluster", answersForNodesInTheCluster)
	t.Run("a node can claim only its own measurement", aNodeCanClaimOnlyItsOwnMeasurement)
}

func answersForNodesInTheCluster(t *testing.T) {
	m := servertest.NewMeasured()
	m.Wanted = 2 // The claims that are kept.
	client := measuring(t, m, fleet)
	for _, tc := range []struct {
		name    string
		request *workloadresizerv1.ClaimMeasurementRequest
		code    codes.Code
		granted bool
		says    string
	}{
		{"grants a claim", &workloadresizerv1.ClaimMeasurementRequest{Node: "google", Vcpus: 8, Version: "1"}, codes.OK, true, ""},
		{"previews a claim", &workloadresizerv1.ClaimMeasurementRequest{Node: "google", Vcpus: 8, ValidateOnly: true}, codes.OK, true, ""},
		{"does not claim what it declines", &workloadresizerv1.ClaimMeasurementRequest{Node: "google", Vcpus: 8, ThreadsPerCore: new(int32(2))}, codes.OK, false, "it can only be measured while it starts"},
		{"grants a claim by the instance type", &workloadresizerv1.ClaimMeasurementRequest{Node: "amazon", Vcpus: 2, CpuModel: "Intel-6-143"}, codes.OK, true, ""},
		{"declines a claim if others are enough", &workloadresizerv1.ClaimMeasurementRequest{Node: "google", Vcpus: 8}, codes.OK, false, "2 nodes of type n4 with 8 vCPUs"},
		{"does not know a node", &workloadresizerv1.ClaimMeasurementRequest{Node: "gone", Vcpus: 8}, codes.NotFound, false, `node "gone" is not known`},
		{"cannot tell the type of a node", &workloadresizerv1.ClaimMeasurementRequest{Node: "nameless", Vcpus: 8}, codes.InvalidArgument, false, "no label that determines its type"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := client.ClaimMeasurement(t.Context(), tc.request)
			if status.Code(err) != tc.code || got.GetGranted() != tc.granted || !strings.Contains(got.GetMessage()+status.Convert(err).Message(), tc.says) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	want := []intake.Claim{
		{Node: "google", NodeType: "n4", CPUModel: "Intel-6-207", VCPUs: 8, Version: "1"},
		{Node: "amazon", NodeType: "m7i", CPUModel: "Intel-6-143", VCPUs: 2},
	}
	if len(m.Claims) != 2 || m.Claims[0] != want[0] || m.Claims[1] != want[1] {
		t.Errorf("got %+v, want %+v", m.Claims, want)
	}
}

func aNodeCanClaimOnlyItsOwnMeasurement(t *testing.T) {
	m := servertest.NewMeasured()
	m.Wanted = 9
	service := onFleet(t, m)
	for node, code := range map[string]codes.Code{"labeled": codes.OK, "bare": codes.PermissionDenied} {
		got, err := service.ClaimMeasurement(access.NewContext(t.Context(), agentOn("labeled")), &workloadresizerv1.ClaimMeasurementRequest{Node: node, Vcpus: 8, CpuModel: "made-up"})
		if status.Code(err) != code || got.GetGranted() != (code == codes.OK) {
			t.Errorf("%s: got %v, %v", node, got, err)
		}
	}
	if len(m.Claims) != 1 || m.Claims[0].CPUModel != "Intel-6-207" {
		t.Errorf("got %+v; the label determines the CPU model", m.Claims)
	}
}
