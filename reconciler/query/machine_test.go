package query

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
)

func TestMachine(t *testing.T) {
	t.Run("reads the machine from the labels of a node", readsTheMachineFromTheLabelsOfANode)
}

func readsTheMachineFromTheLabelsOfANode(t *testing.T) {
	var nodes []*corev1.Node
	for name, labels := range map[string]map[string]string{
		"known":    {nodetype.LabelGCPMachineFamily: "n4", nodetype.LabelOwnCPUModel: "Intel-6-207"},
		"family":   {nodetype.LabelInstanceType: "n4-standard-8"},
		"unknown":  {nodetype.LabelInstanceType: "c3-standard-8"},
		"nameless": nil,
	} {
		nodes = append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	store := ratios.NewStore(ratiotest.NewMemory("configmap", ratios.Update{Layer: &ratios.Layer{Baseline: "n4", Ratios: map[string]ratios.Ratio{"n4": {CPUPerf: 1, MemoryPerf: 1}}}}))
	r := about(clustertest.Unread(t))
	r.Cluster.Ratios = store
	notReady := func(want cluster.NotReady) {
		t.Helper()
		var err *cluster.NotReadyError
		if _, _, got := r.Machine("known"); !errors.As(got, &err) || err.What != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	notReady(cluster.CacheNotReady)
	do(t, r.Cluster.Know(nil, nodes))
	notReady(cluster.RatiosNotReady)

	ctx, cancel := context.WithCancel(t.Context())
	done, known := make(chan error, 1), store.Watch()
	go func() { done <- store.Run(ctx) }()
	<-known
	for name, want := range map[string]Machine{
		"known":    {Match: nodetype.Match{NodeType: "n4", Label: nodetype.LabelGCPMachineFamily}, Known: true, CPUModel: "Intel-6-207"},
		"family":   {Match: nodetype.Match{NodeType: "n4", Label: nodetype.LabelInstanceType}, Known: true, CPUModel: ""},
		"unknown":  {Match: nodetype.Match{NodeType: "c3-standard-8", Label: nodetype.LabelInstanceType}, Known: false, CPUModel: ""},
		"nameless": {},
	} {
		if got, found, err := r.Machine(name); got != want || !found || err != nil {
			t.Errorf("%s is %v, %v, %v; want %v", name, got, found, err, want)
		}
	}
	if _, found, err := r.Machine("gone"); found || err != nil {
		t.Errorf("a missing node: %v, %v", found, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
