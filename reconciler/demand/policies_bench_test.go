package demand

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/vpa"
)

// BenchmarkPolicies measures a publication with the VerticalPodAutoscalers of a tenant, and what their statuses should say.
// A change to any of them is followed by a publication within seconds.
func BenchmarkPolicies(b *testing.B) {
	for _, tc := range []struct {
		name          string
		objects, pods int
		target        func(i int) string
		owner         func(i int) string
	}{
		{"none", 0, 2000, nil, func(int) string { return "web" }},
		{"5,000 for one of 1,000 Deployments each", 5000, 2000, func(i int) string { return fmt.Sprint("web-", i%1000) }, func(i int) string { return fmt.Sprint("web-", i%1000) }},
		{"5,000 for the same Deployment", 5000, 2000, func(int) string { return "web" }, func(int) string { return "web" }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			f := &fixture{leads: true}
			var pods []*corev1.Pod
			for i := range tc.pods {
				pods = append(pods, podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", fmt.Sprint("pod-", i), "a"), func(p *corev1.Pod) {
					p.OwnerReferences[0].Name, p.CreationTimestamp = tc.owner(i)+"-1", metav1.NewTime(podtest.Start.Add(-24*time.Hour))
					p.Labels = map[string]string{"pod-template-hash": "1"}
				}))
			}
			f.of = clustertest.Of(b, pods, []*corev1.Node{clustertest.Node("a", "n2d", "64")})
			f.Demands = New(Config{
				Cluster: f.of, Ratios: f.of.Ratios, Planner: f.of.Planner, Leads: func() bool { return true }, Clock: clustertest.Clock(f.of),
				Usage: Usage{Sources: []Source{{Source: &steady{}, Interval: time.Minute}}},
			})
			before := podtest.HeapInUse()
			for i := range tc.objects {
				object := map[string]any{
					"metadata": map[string]any{"namespace": "shop", "name": fmt.Sprint("vpa-", i), "annotations": map[string]any{"workload-resizer.io/mode": "apply"}},
					"spec": map[string]any{
						"targetRef": map[string]any{"kind": "Deployment", "name": tc.target(i)}, "recommenders": []any{map[string]any{"name": "workload-resizer"}},
						"updatePolicy": map[string]any{"updateMode": "Off"},
					},
				}
				if err := f.of.KnowPolicy(vpa.From(&unstructured.Unstructured{Object: object})); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				f.publish(b.Context())
				f.Statuses()
			}
			b.ReportMetric((podtest.HeapInUse()-before)/(1<<20), "MiB")
			runtime.KeepAlive(f)
		})
	}
}
