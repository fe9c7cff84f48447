package clustertest

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// Unread returns an empty cluster: no pods, no ratios, no holds. Its clock stands at
// podtest.Start, and its API server refuses connections.
func Unread(t testing.TB) *cluster.Cluster {
	t.Helper()
	nowhere := &rest.Config{Host: "https://127.0.0.1:1"}
	c, err := cluster.New(cluster.Config{
		Client: kubernetes.NewForConfigOrDie(nowhere), Dynamic: dynamic.NewForConfigOrDie(nowhere),
		Ratios: ratios.NewStore(), Holds: NoHolds{}, Planner: &plan.Planner{OwnerKinds: plan.DefaultOwnerKinds},
		VPAPolicies: true, Metrics: prometheus.NewRegistry(), Clock: testingclock.NewFakeClock(podtest.Start),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Of returns a cluster with these pods and nodes, and the ratios of Published.
func Of(t testing.TB, pods []*corev1.Pod, nodes []*corev1.Node) *cluster.Cluster {
	t.Helper()
	c := Unread(t)
	c.Ratios = Store(t, Published())
	all := make([]*pod.Pod, len(pods))
	for i, p := range pods {
		all[i] = pod.From(p)
	}
	if err := c.Know(all, nodes); err != nil {
		t.Fatal(err)
	}
	return c
}

// Clock returns the clock of a cluster of this package.
func Clock(c *cluster.Cluster) *testingclock.FakeClock { return c.Clock.(*testingclock.FakeClock) }
