package plans

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// manyPods returns a cluster with 20 pods per node, of three kinds in turn: pods to resize,
// pods that are aligned, and pods with two containers and limits.
func manyPods(nodes int) ([]corev1.Pod, []corev1.Node) {
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	controller := true
	var allPods []corev1.Pod
	var allNodes []corev1.Node
	for n := range nodes {
		node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("gke-main-pool-%05d", n), Labels: map[string]string{nodetype.LabelGCPMachineFamily: [...]string{"n2d", "n4"}[n%2]}}}
		node.Status.Allocatable = list("32", "128Gi")
		allNodes = append(allNodes, node)
		for i := range 20 {
			id := n*20 + i
			p := corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: fmt.Sprintf("team-%03d", id%200), Name: fmt.Sprintf("web-6d4cf56db6-%06d", id), UID: types.UID(fmt.Sprintf("7f1d0c1e-0000-4000-8000-%012d", id)), ResourceVersion: "1",
					Labels:          map[string]string{"app": "web", "pod-template-hash": "6d4cf56db6"},
					OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-6d4cf56db6", Controller: &controller}},
				},
				Spec: corev1.PodSpec{NodeName: node.Name, Containers: []corev1.Container{
					{Name: "app", Resources: corev1.ResourceRequirements{Requests: list("500m", "1Gi"), Limits: list("1", "2Gi")}},
				}},
				Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable},
			}
			if i%3 == 2 {
				p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "proxy", Resources: corev1.ResourceRequirements{Requests: list("100m", "64Mi")}})
			}
			allPods = append(allPods, p)
		}
	}
	return allPods, allNodes
}

// BenchmarkPreviewPlans streams a plan of each of 100,000 pods over TCP to a client that
// reads them all, both on one core.
func BenchmarkPreviewPlans(b *testing.B) {
	const nodes, pods = 5000, 100_000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	servertest.Quiet()
	r := servertest.Start(b, servertest.Setup{Cluster: frozenMany(b, nodes), Loop: servertest.DryRun}).Known(b)
	client := serve(b, r, servertest.All)
	localcluster.Eventually(b, "the loop to process every pod", func() error {
		if left := unread(b, r, pods); left > 0 {
			return fmt.Errorf("%d pods are left", left)
		}
		return nil
	})
	b.ReportAllocs()
	begin := podtest.CPUTime(b)
	for b.Loop() {
		stream, err := client.PreviewPlans(b.Context(), &workloadresizerv1.PreviewPlansRequest{})
		if err != nil {
			b.Fatal(err)
		}
		plans := 0
		for {
			message, err := stream.Recv()
			if err != nil {
				b.Fatal(err)
			}
			if message.GetPlan() != nil {
				plans++
			}
			if s := message.GetSummary(); s != nil {
				if plans != pods || s.GetPods() != pods {
					b.Fatalf("%d plans, summary %v", plans, s)
				}
				break
			}
		}
	}
	b.ReportMetric(float64(b.N)*pods/b.Elapsed().Seconds(), "pods/s")
	b.ReportMetric((podtest.CPUTime(b)-begin).Seconds()/float64(b.N), "cpu-s/op")
}

// frozenMany serves many pods and keeps no references to them.
func frozenMany(b *testing.B, nodes int) *rest.Config {
	pods, all := manyPods(nodes)
	return servertest.Frozen(b, pods, all)
}

// unread returns how many of the given number of pods the loop has not processed.
func unread(b *testing.B, r *servertest.Parts, pods int) int {
	b.Helper()
	families, err := r.Metrics.Gather()
	if err != nil {
		b.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "workload_resizer_pods" {
			for _, m := range family.GetMetric() {
				pods -= int(m.GetGauge().GetValue())
			}
		}
	}
	return pods
}
