package query

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// impactWorld has pods that are resized, most of them on n4 nodes, of which "full" has no
// room, and some pods that are never resized.
func impactWorld(t testing.TB) *Queries {
	one := podtest.Amounts{"1", "", "1Gi", ""}
	always := corev1.ContainerRestartPolicyAlways
	sidecar := func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: &always, Resources: podtest.Amounts{"200m", "", "", ""}.Requirements()}}
	}
	bare := func(p *corev1.Pod) { p.OwnerReferences = nil }
	r := filled(t, []*corev1.Pod{
		podtest.Pod(one, clustertest.Named("shop", "base", "n2d")),
		podtest.Pod(one, clustertest.Named("shop", "web", "n4"), sidecar),
		podtest.Pod(one, clustertest.Named("bank", "web", "n4")),
		podtest.Pod(one, clustertest.Named("shop", "crowded", "full")),
		podtest.Pod(one, clustertest.Named("shop", "bare", "n4"), bare),
		podtest.Pod(one, clustertest.Named("shop", "skip", "n4"), podtest.Annotated("skip", "true")),
		podtest.Pod(one, clustertest.Named("held", "paused", "n4")),
		podtest.Pod(one, clustertest.Named("restored", "web", "n4")),
		podtest.Pod(podtest.Amounts{"20m", "", "", ""}, clustertest.Named("shop", "clamped", "n4")),
	}, []*corev1.Node{clustertest.Node("n2d", "n2d", "8"), clustertest.Node("n4", "n4", "64"), clustertest.Node("full", "n4", "1")})
	r.Planner.Sidecars = true
	r.Cluster.Holds = clustertest.Holding([]hold.Hold{
		{Kind: hold.Pause, Scope: hold.Scope{Namespace: "held"}}, {Kind: hold.Restore, Scope: hold.Scope{Namespace: "restored"}},
	}...)
	return r
}

func TestImpact(t *testing.T) {
	r := impactWorld(t)
	for _, tc := range []struct {
		name   string
		n4     float64
		want   Impact
		vetoed map[string]contract.Reason
	}{
		{"the same ratio affects no pod", 1.25, Impact{}, nil},
		// Each app with 1000m: 800m → 500m; the sidecar: 160m → 100m.
		{"a faster node frees requests, including sidecars", 2, Impact{
			Total:      ImpactGroup{Pods: 3, CPU: -3*300 - 60, Vetoed: 1},
			NodeTypes:  []ImpactGroup{{Name: "n4", Pods: 3, CPU: -3*300 - 60, Vetoed: 1}},
			Namespaces: []ImpactGroup{{Name: "bank", Pods: 1, CPU: -300}, {Name: "held", Vetoed: 1}, {Name: "shop", Pods: 2, CPU: -2*300 - 60}},
		}, map[string]contract.Reason{"held/paused": contract.Paused}},
		{"a slower node needs more requests, which need room", 0.5, Impact{
			Total:      ImpactGroup{Pods: 2, CPU: 2*1200 + 240, Vetoed: 2},
			NodeTypes:  []ImpactGroup{{Name: "n4", Pods: 2, CPU: 2*1200 + 240, Vetoed: 2}},
			Namespaces: []ImpactGroup{{Name: "bank", Pods: 1, CPU: 1200}, {Name: "held", Vetoed: 1}, {Name: "shop", Pods: 1, CPU: 1200 + 240, Vetoed: 1}},
		}, map[string]contract.Reason{"held/paused": contract.Paused, "shop/crowded": contract.NodeCapacity}},
		{"an implausible ratio is a veto for all pods", 125, Impact{
			Total:      ImpactGroup{Vetoed: 5},
			NodeTypes:  []ImpactGroup{{Name: "n4", Vetoed: 5}},
			Namespaces: []ImpactGroup{{Name: "bank", Vetoed: 1}, {Name: "held", Vetoed: 1}, {Name: "shop", Vetoed: 3}},
		}, map[string]contract.Reason{"bank/web": contract.ImplausibleRatio, "shop/clamped": contract.ImplausibleRatio, "held/paused": contract.Paused, "shop/crowded": contract.ImplausibleRatio, "shop/web": contract.ImplausibleRatio}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := r.Impact(t.Context(), clustertest.WithN4(t, tc.n4))
			do(t, err)
			vetoed := map[string]contract.Reason{}
			for _, p := range got.Vetoed {
				vetoed[p.Pod.String()] = p.Reasons[0].Code
			}
			if diff := cmp.Diff(tc.vetoed, vetoed); diff != "" && len(tc.vetoed)+len(vetoed) > 0 {
				t.Error(diff)
			}
			got.Vetoed = nil
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestImpactRules(t *testing.T) {
	t.Run("counts the part of a resize that is not vetoed, and lists the pod", countsThePartThatIsNotVetoedAndListsThePod)
	t.Run("counts a resize in progress as completed", countsAResizeInProgressAsCompleted)
	t.Run("ends when its context is canceled", endsWhenItsContextIsCanceled)
}

// The node has no room for more cpu, and memory shrinks.
func countsThePartThatIsNotVetoedAndListsThePod(t *testing.T) {
	r := filled(t, []*corev1.Pod{podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", "web", "full"))}, []*corev1.Node{clustertest.Node("full", "n4", "1")})
	layer := clustertest.Published()
	layer.Ratios["n4"] = ratios.Ratio{CPUPerf: 0.5, MemoryPerf: 2}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	do(t, err)
	got, err := r.Impact(t.Context(), table)
	do(t, err)
	// With the ratios in effect the pod would have 800m, and with the others it keeps 1000m.
	if want := (ImpactGroup{Pods: 1, CPU: 200, Memory: -512 << 20, Vetoed: 1}); got.Total != want {
		t.Errorf("got %+v, want %+v", got.Total, want)
	}
	if len(got.Vetoed) != 1 || got.Vetoed[0].Objection().Code != contract.NodeCapacity {
		t.Errorf("vetoed: %+v", got.Vetoed)
	}
}

// Right after a change, most nodes have not completed the resizes.
func countsAResizeInProgressAsCompleted(t *testing.T) {
	sized := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	r := filled(t, []*corev1.Pod{
		podtest.Pod(sized, clustertest.Named("shop", "busy", "n4"), podtest.SizedForN4, podtest.AsResized, podtest.Said(corev1.PodResizeInProgress, "", 5, 20)),
		podtest.Pod(sized, clustertest.Named("shop", "waiting", "n4"), podtest.SizedForN4, podtest.AsResized, podtest.Said(corev1.PodResizePending, "Deferred", 5, 20)),
		podtest.Pod(sized, clustertest.Named("shop", "crowded", "full"), podtest.SizedForN4, podtest.AsResized, podtest.Said(corev1.PodResizeInProgress, "", 5, 20)),
	}, []*corev1.Node{clustertest.Node("n4", "n4", "64"), clustertest.Node("full", "n4", "1")})
	got, err := r.Impact(t.Context(), clustertest.WithN4(t, 0.5))
	do(t, err)
	// 1000m: 800m → 2000m.
	if diff := cmp.Diff(ImpactGroup{Pods: 1, CPU: 1200, Vetoed: 2}, got.Total); diff != "" {
		t.Error(diff)
	}
	for i, want := range []contract.Reason{contract.NodeCapacity, contract.ResizeDeferred} {
		if got.Vetoed[i].Reasons[0].Code != want {
			t.Errorf("%v, want %s", got.Vetoed[i], want)
		}
	}
}

func endsWhenItsContextIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := impactWorld(t).Impact(ctx, clustertest.WithN4(t, 2)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkImpact measures a change to one of two node types in a cluster of 100,000
// pods.
func BenchmarkImpact(b *testing.B) {
	const pods, nodes = 100_000, 5000
	var allPods []*corev1.Pod
	var allNodes []*corev1.Node
	for i := range nodes {
		allNodes = append(allNodes, clustertest.Node(fmt.Sprint("node-", i), [...]string{"n2d", "n4"}[i%2], "32"))
	}
	for i := range pods {
		allPods = append(allPods, podtest.Pod(podtest.Amounts{"500m", "1", "1Gi", "1Gi"}, clustertest.Named(fmt.Sprint("team-", i%200), fmt.Sprint("pod-", i), allNodes[i%nodes].Name)))
	}
	r, table := filled(b, allPods, allNodes), clustertest.WithN4(b, 1.3)
	b.ReportAllocs()
	for b.Loop() {
		impact, err := r.Impact(b.Context(), table)
		if err != nil || impact.Total.Pods != pods/2 {
			b.Fatal(impact.Total, err)
		}
	}
}
