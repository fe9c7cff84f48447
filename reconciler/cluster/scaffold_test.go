package cluster

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// known returns a cluster with these pods and without an API server.
func known(t testing.TB, pods ...*corev1.Pod) *Cluster {
	t.Helper()
	nowhere := &rest.Config{Host: "https://127.0.0.1:1"}
	c, err := New(Config{
		Client: kubernetes.NewForConfigOrDie(nowhere), Dynamic: dynamic.NewForConfigOrDie(nowhere),
		Planner: &plan.Planner{}, Metrics: prometheus.NewRegistry(), Clock: clock.RealClock{},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Serve(&told{}, c.refused)
	all := make([]*pod.Pod, len(pods))
	for i, p := range pods {
		all[i] = pod.From(p)
	}
	if err := c.Know(all, nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// told counts the changes that a cluster reports.
type told struct{ changed, eased int }

func (t *told) Changed(types.NamespacedName)     { t.changed++ }
func (t *told) Eased(string, ...contract.Reason) { t.eased++ }

// named sets the name of a pod.
func named(namespace, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Namespace, p.Name, p.UID = namespace, name, types.UID(namespace+"/"+name) }
}
