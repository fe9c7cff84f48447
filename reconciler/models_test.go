package reconciler

import (
	"context"
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

// models changes the CPU model of a node several times, and waits for its pod to have the
// size for each.
func (s *apiServer) models(t *testing.T) {
	n := s.node(t, "models")
	perf := func(cpu float64) ratios.Ratio { return ratios.Ratio{CPUPerf: cpu, MemoryPerf: 1} }
	store := ratios.NewStore(ratiotest.NewMemory("memory", ratios.Update{Layer: &ratios.Layer{
		Settings: keys.Some(policy.Settings{Guard: everyPod}),
		Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": perf(1), "n4": perf(1.25), "n4@Intel-6-79": perf(0.5), "n4@AMD-25-1": perf(2)},
	}}))
	events := loop.NewEvents(s.client)
	r, err := New(Config{
		Client: s.client, Dynamic: s.dynamic, Writer: s.client, Asker: s.client, Ratios: store, Holds: clustertest.NoHolds{},
		Planner: plan.Planner{OwnerKinds: []string{"Node"}, External: plan.OverrideExternal},
		Events:  events, Metrics: prometheus.NewRegistry(), Workers: 1,
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
	for _, step := range []struct{ name, labels, nodeType, cpu string }{
		{"no model is known", `{}`, "n4", "800m"},
		{"the node agent writes one", `{"` + nodetype.LabelOwnCPUModel + `":"Intel-6-79"}`, "n4@Intel-6-79", "2"},
		{"the model changes", `{"` + nodetype.LabelOwnCPUModel + `":"Intel-6-143"}`, "n4", "800m"},
		{"Node Feature Discovery writes one", `{"` + nodetype.LabelOwnCPUModel + `":null,"` + nodetype.LabelCPUVendor + `":"AMD","` + nodetype.LabelCPUFamily + `":"25","` + nodetype.LabelCPUModel + `":"1"}`, "n4@AMD-25-1", "500m"},
		{"only its vendor changes", `{"` + nodetype.LabelCPUVendor + `":"Hygon"}`, "n4", "800m"},
	} {
		if _, err := s.client.CoreV1().Nodes().Patch(t.Context(), n.Name, types.MergePatchType, []byte(`{"metadata":{"labels":`+step.labels+`}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		localcluster.Eventually(t, "the size when "+step.name, func() error {
			p = s.get(t, p)
			if got := p.Spec.Containers[0].Resources.Requests.Cpu().String(); got != step.cpu || p.Annotations[contract.AppliedInstanceType] != step.nodeType {
				return fmt.Errorf("it has %s, %v; want %s for %s", got, p.Annotations, step.cpu, step.nodeType)
			}
			return nil
		})
		if original := p.Annotations[contract.OriginalPrefix+"cpu.app"]; original != "1" {
			t.Errorf("when %s: the original is %q", step.name, original)
		}
	}
	cancel()
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	}
	events.Shutdown()
}
