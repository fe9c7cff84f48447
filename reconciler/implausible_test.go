package reconciler

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// implausible changes the ratio of the node type typed, with mistakes in between. A pod there
// keeps its size while the ratio is implausible, and a pod on another node type is always
// resized. No other test has nodes of these types.
func (s *apiServer) implausible(t *testing.T) {
	typed, other := s.nodeOf(t, "implausible", "typed"), s.nodeOf(t, "plausible", "other")
	layer := func(typed, other, most float64) ratios.Update {
		perf := func(cpu float64) ratios.Ratio { return ratios.Ratio{CPUPerf: cpu, MemoryPerf: 1} }
		return ratios.Update{Layer: &ratios.Layer{
			Settings: keys.Some(policy.Settings{Guard: everyPod}),
			Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": perf(1), "typed": perf(typed), "other": perf(other)}, MaxSpeedRatio: most,
		}}
	}
	source := ratiotest.NewMemory("memory", layer(125, 1.25, 0))
	store := ratios.NewStore(source)
	events := loop.NewEvents(s.client)
	r, err := New(Config{
		Client: s.client, Dynamic: s.dynamic, Writer: s.client, Asker: s.client, Ratios: store, Holds: clustertest.NoHolds{},
		Planner: plan.Planner{OwnerKinds: []string{"Node"}}, Events: events, Metrics: prometheus.NewRegistry(), Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- store.Run(ctx) }()
	go func() { done <- r.Run(ctx) }()

	podOn := func(n *corev1.Node) *corev1.Pod {
		controller := true
		return s.pod(t, podtest.Guaranteed, func(p *corev1.Pod) {
			p.Spec.NodeName = n.Name
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID, Controller: &controller}}
		})
	}
	onTyped, onOther := podOn(typed), podOn(other)
	for _, step := range []struct {
		name               string
		typed, other, most float64
		skipped            int
		cpuTyped, cpuOther string
	}{
		{"the first ratio is a typo", 125, 1.25, 0, 1, "1", "800m"},
		{"the ratio is corrected", 1.25, 1, 0, 0, "800m", "1"},
		{"it is wrong again", 1e308, 2, 0, 1, "800m", "500m"},
		{"the maximum is raised", 100, 1.25, 100, 0, "10m", "800m"},
	} {
		source.Set(layer(step.typed, step.other, step.most))
		localcluster.Eventually(t, "the sizes when "+step.name, func() error {
			onTyped, onOther = s.get(t, onTyped), s.get(t, onOther)
			skipped := 0
			for _, count := range r.Status().Pods {
				if count.Reason == contract.ImplausibleRatio {
					skipped += count.Pods
				}
			}
			cpu := func(p *corev1.Pod) string { return p.Spec.Containers[0].Resources.Requests.Cpu().String() }
			if skipped != step.skipped || cpu(onTyped) != step.cpuTyped || cpu(onOther) != step.cpuOther {
				return fmt.Errorf("%d pods are skipped, the sizes are %s and %s; want %+v", skipped, cpu(onTyped), cpu(onOther), step)
			}
			return nil
		})
	}
	localcluster.Eventually(t, "an event on the pod", func() error {
		list, err := s.client.CoreV1().Events(onTyped.Namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + string(contract.ImplausibleRatio) + ",involvedObject.name=" + onTyped.Name})
		if err == nil && len(list.Items) == 0 {
			err = fmt.Errorf("there is none")
		}
		return err
	})
	cancel()
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	}
	events.Shutdown()
}
