package benchmarks

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/intake"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/startup"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func TestClaim(t *testing.T) {
	t.Run("answers for nodes in the cluster", answersForNodesInTheCluster)
	t.Run("a node can claim only its own measurement", aNodeCanClaimOnlyItsOwnMeasurement)
	t.Run("a node that needs no more time lets pods in", aNodeThatNeedsNoMoreTimeLetsPodsIn)
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

// gateway records that the startup taint of a node is removed.
type gateway struct {
	corev1client.NodeInterface
	removed chan string
}

func (g *gateway) Patch(_ context.Context, node string, _ types.PatchType, _ []byte, _ metav1.PatchOptions, _ ...string) (*corev1.Node, error) {
	g.removed <- node
	return &corev1.Node{}, nil
}

func aNodeThatNeedsNoMoreTimeLetsPodsIn(t *testing.T) {
	m := servertest.NewMeasured()
	service := onFleet(t, m)
	g := &gateway{removed: make(chan string, 9)}
	tainted := func(name string) *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: contract.StartupTaint, Effect: corev1.TaintEffectNoSchedule}}},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}},
		}
	}
	gate := startup.New(startup.Config{Nodes: g, Node: tainted, Leads: func() bool { return true }, Clock: clock.RealClock{}})
	service.config.Reconciler.Gate = gate
	go gate.Run(t.Context())

	claim := &workloadresizerv1.ClaimMeasurementRequest{Node: "bare", Vcpus: 8, ThreadsPerCore: new(int32(2))}
	m.Wanted = 1
	got, err := service.ClaimMeasurement(access.NewContext(t.Context(), agentOn("bare")), claim)
	if err != nil || !got.GetGranted() || time.Until(got.GetReleaseTime().AsTime()) < 20*time.Second || got.GetRemainingDuration().AsDuration() < 20*time.Second {
		t.Fatalf("the claim of a node behind its taint: %v, %v", got, err)
	}
	select {
	case node := <-g.removed:
		t.Fatalf("%s let pods in before it was measured", node)
	default:
	}
	in := &ingest{service: service, caller: agentOn("bare")}
	if err := in.take(t.Context(), &workloadresizerv1.IngestSamplesRequest{Samples: []*workloadresizerv1.BenchmarkSample{byAgent("a", "bare")}}); err != nil {
		t.Fatal(err)
	}
	if node := <-g.removed; node != "bare" {
		t.Errorf("samples of bare let pods onto %s", node)
	}
	claim.Node = "labeled"
	if got, err := service.ClaimMeasurement(access.NewContext(t.Context(), agentOn("labeled")), claim); err != nil || got.GetGranted() || got.GetReleaseTime() != nil || got.GetRemainingDuration() != nil {
		t.Fatalf("the claim of a node that is not needed: %v, %v", got, err)
	}
	for node := range g.removed {
		if node == "labeled" {
			break
		}
	}
}
