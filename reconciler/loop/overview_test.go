package loop

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestStatus(t *testing.T) {
	t.Run("counts pods on nodes whose type has no ratio, by type", countsPodsOnNodesWhoseTypeHasNoRatioByType)
}

func countsPodsOnNodesWhoseTypeHasNoRatioByType(t *testing.T) {
	one := podtest.Amounts{"1", "", "1Gi", ""}
	bare := clustertest.Node("bare", "", "8")
	bare.Labels = nil
	l := filled(t, []*corev1.Pod{
		podtest.Pod(one, clustertest.Named("shop", "known", "known")),
		podtest.Pod(one, clustertest.Named("shop", "a", "new-1")),
		podtest.Pod(one, clustertest.Named("shop", "b", "new-1")),
		podtest.Pod(one, clustertest.Named("bank", "c", "new-2")),
		podtest.Pod(one, clustertest.Named("bank", "d", "bare")),
		podtest.Pod(one, clustertest.Named("bank", "without a controller", "bare"), func(p *corev1.Pod) { p.OwnerReferences = nil }),
	}, []*corev1.Node{clustertest.Node("known", "n4", "8"), clustertest.Node("new-1", "t2d", "8"), clustertest.Node("new-2", "t2d", "8"), bare})
	if found := l.Status().WithoutRatio; len(found) > 0 {
		t.Errorf("before any plan: %v", found)
	}
	rules, _ := l.Cluster.Rules()
	for _, of := range l.Cluster.Pods("").List() {
		l.ledger.planned(l.Planner.Plan(l.Cluster.Snapshot(of, rules)), rules, difference{}, time.Time{})
	}
	want := []WithoutRatio{{NodeType: "t2d", Nodes: 2, Pods: 3}, {Nodes: 1, Pods: 1}}
	if got := l.Status().WithoutRatio; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
