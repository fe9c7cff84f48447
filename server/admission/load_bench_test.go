package admission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/creation"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
)

// BenchmarkAnswer measures answers to the API server, next to 150,000 pods, and the slowest of 100 of them.
func BenchmarkAnswer(b *testing.B) {
	var nodes []*corev1.Node
	for i := range 200 {
		nodes = append(nodes, clustertest.Node(fmt.Sprint("node-", i), []string{"n2d", "n4"}[i%2], "96"))
	}
	of := clustertest.Thousands(b, 150_000, 200, nodes...)
	of.Ratios = clustertest.Store(b, clustertest.Published())
	keys, _ := (*seal.Ring)(nil).Renewed(podtest.Start.Add(-time.Hour))
	h := newHandler(&creation.Sizer{Config: creation.Config{
		Cluster: of, Planner: &plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}, Keys: func() *seal.Ring { return keys }, Clock: of.Clock,
	}}, 1)
	p, yes := podtest.Typical(b), true
	p.Name, p.UID, p.Spec.NodeName, p.Status, p.ManagedFields, p.Annotations = "", "", "", corev1.PodStatus{}, nil, nil
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "checkout-0000001", UID: "owner", Controller: &yes}}
	p.Spec.NodeSelector = map[string]string{"cloud.google.com/machine-family": "n4"}
	body := review(b, p)
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		request, answer := httptest.NewRequestWithContext(b.Context(), "POST", Path+"known", bytes.NewReader(body)), httptest.NewRecorder()
		request.SetPathValue("token", "known")
		began := time.Now()
		h.ServeHTTP(answer, request)
		took = append(took, time.Since(began))
		var is struct {
			Response struct{ Patch []byte }
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &is); err != nil || len(is.Response.Patch) == 0 {
			b.Fatalf("%v: %s", err, answer.Body)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
