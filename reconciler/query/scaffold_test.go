package query

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
)

// about returns queries of a cluster.
func about(c *cluster.Cluster) *Queries { return &Queries{Cluster: c, Planner: c.Planner} }

// filled returns queries of a cluster with these pods and nodes.
func filled(t testing.TB, pods []*corev1.Pod, nodes []*corev1.Node) *Queries {
	t.Helper()
	return about(clustertest.Of(t, pods, nodes))
}

// shop returns queries of clustertest.Shop.
func shop(t testing.TB) *Queries {
	t.Helper()
	return about(clustertest.Shop(t))
}

// only returns a Visible for callers that see one namespace.
func only(seen string) Visible {
	return func(namespaces ...string) ([]string, error) {
		if slices.Contains(namespaces, seen) {
			return []string{seen}, nil
		}
		return nil, nil
	}
}

func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
