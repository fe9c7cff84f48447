package reconciler

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

func TestWhatTheLabelsOfANodeTellOfTheMachine(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for name, labels := range map[string]map[string]string{
		"known":    {nodetype.LabelGCPMachineFamily: "n4", nodetype.LabelOwnCPUModel: "Intel-6-207"},
		"family":   {nodetype.LabelInstanceType: "n4-standard-8"},
		"unknown":  {nodetype.LabelInstanceType: "c3-standard-8"},
		"nameless": nil,
	} {
		if err := indexer.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}); err != nil {
			t.Fatal(err)
		}
	}
	store := ratios.NewStore(ratiotest.NewMemory("configmap", ratios.Update{Layer: &ratios.Layer{Baseline: "n4", Ratios: map[string]ratios.Ratio{"n4": {CPUPerf: 1, MemoryPerf: 1}}}}))
	r := &Reconciler{Config: Config{Ratios: store}, vpas: &vpas{}, filled: make(chan struct{}), nodes: corelisters.NewNodeLister(indexer)}
	notReady := func(want NotReady) {
		t.Helper()
		var err *NotReadyError
		if _, _, got := r.Machine("known"); !errors.As(got, &err) || err.What != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	notReady(CacheNotReady)
	close(r.filled)
	notReady(RatiosNotReady)

	ctx, cancel := context.WithCancel(t.Context())
	done, known := make(chan error, 1), store.Watch()
	go func() { done <- store.Run(ctx) }()
	<-known
	for name, want := range map[string]Machine{
		"known":    {nodetype.Match{NodeType: "n4", Label: nodetype.LabelGCPMachineFamily}, true, "Intel-6-207"},
		"family":   {nodetype.Match{NodeType: "n4", Label: nodetype.LabelInstanceType}, true, ""},
		"unknown":  {nodetype.Match{NodeType: "c3-standard-8", Label: nodetype.LabelInstanceType}, false, ""},
		"nameless": {},
	} {
		if got, found, err := r.Machine(name); got != want || !found || err != nil {
			t.Errorf("%s is %v, %v, %v; want %v", name, got, found, err, want)
		}
	}
	if _, found, err := r.Machine("gone"); found || err != nil {
		t.Errorf("a node that is not there: %v, %v", found, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
