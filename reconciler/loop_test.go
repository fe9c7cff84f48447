package reconciler

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// loop runs a reconciler against the API server. The controller of its pods is their
// node, because any existing object will do.
func (s *apiServer) loop(t *testing.T) {
	n := s.node(t, "loop")
	layer := &ratios.Layer{Settings: keys.Some(policy.Settings{Guard: everyPod}), Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}}}
	source := ratiotest.NewMemory("memory", ratios.Update{Layer: layer})
	store := ratios.NewStore(source)
	events, registry := loop.NewEvents(s.client), prometheus.NewRegistry()
	r, err := New(Config{
		Client: s.client, Dynamic: s.dynamic, Writer: s.client, Asker: s.client, Ratios: store, Holds: clustertest.NoHolds{},
		Planner: plan.Planner{OwnerKinds: []string{"Node"}, External: plan.OverrideExternal},
		Events:  events, Metrics: registry, Workers: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- store.Run(ctx) }()
	go func() { done <- r.Run(ctx) }()

	controller := true
	p := s.pod(t, podtest.Guaranteed, func(p *corev1.Pod) {
		p.Spec.NodeName = n.Name
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID, Controller: &controller}}
	})
	sized := func(cpu string) {
		t.Helper()
		localcluster.Eventually(t, "the pod to have "+cpu, func() error {
			p = s.get(t, p)
			if got := p.Spec.Containers[0].Resources.Requests.Cpu().String(); got != cpu || p.Annotations[contract.AppliedInstanceType] == "" {
				return fmt.Errorf("it has %s, %v", got, p.Annotations)
			}
			return nil
		})
	}
	reported := func(reason contract.Reason, times float64) {
		t.Helper()
		localcluster.Eventually(t, fmt.Sprintf("%s to be reported %v times", reason, times), func() error {
			if got := outcomes(t, registry, reason); got != times {
				return fmt.Errorf("it was reported %v times", got)
			}
			return nil
		})
	}
	sized("800m")
	reported(contract.Resized, 1)
	if err := r.Ready(); err != nil {
		t.Error(err)
	}

	// Another actor resizes the pod: the loop overrides it and reports that each time.
	for times := range 2 {
		theirs := p.DeepCopy()
		theirs.Spec.Containers[0].Resources = podtest.Amounts{"900m", "900m", "1Gi", "1Gi"}.Requirements()
		if _, err := s.client.CoreV1().Pods(p.Namespace).UpdateResize(t.Context(), p.Name, theirs, metav1.UpdateOptions{FieldManager: "they"}); err != nil {
			t.Fatal(err)
		}
		reported(contract.Resized, float64(times)+2)
		sized("800m")
	}
	// Another actor removes our annotations: the current size is not the original.
	if _, err := s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.MergePatchType, []byte(`{"metadata":{"annotations":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	reported(contract.InvalidAnnotation, 1)
	check(t, s.get(t, p), podtest.Amounts{"800m", "800m", "1Gi", "1Gi"})
	if _, err := s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.MergePatchType,
		withAnnotationsPatch(t, applied("n4")), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}

	// The node's type changes, first to the baseline, then to an unknown type.
	if _, err := s.client.CoreV1().Nodes().Patch(t.Context(), n.Name, types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"labels":{%q:"n2d"}}}`, nodetype.LabelGCPMachineFamily), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	sized("1")
	if _, err := s.client.CoreV1().Nodes().Patch(t.Context(), n.Name, types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"labels":{%q:"x9"}}}`, nodetype.LabelGCPMachineFamily), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	reported(contract.UnknownNodeType, 1)
	resized := outcomes(t, registry, contract.Resized)

	cancel()
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	}
	events.Shutdown()
	list, err := s.client.CoreV1().Events(p.Namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(p.UID)})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int32{}
	for _, e := range list.Items {
		counts[e.Reason] += e.Count
	}
	if float64(counts["Resized"]) != resized || counts["InvalidAnnotation"] != 1 || counts["UnknownNodeType"] != 1 {
		t.Errorf("events %v after the end, %v times resized", counts, resized)
	}
}

func withAnnotationsPatch(t *testing.T, pairs []string) []byte {
	t.Helper()
	p := &corev1.Pod{}
	podtest.Annotated(pairs...)(p)
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": p.Annotations}})
	if err != nil {
		t.Fatal(err)
	}
	return body
}
