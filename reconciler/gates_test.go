package reconciler

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// gates adds a compute class to a pod that the loop knows without one, while scheduling gates
// hold it, and waits for the pod to have the size of the class's rule.
func (s *apiServer) gates(t *testing.T) {
	n := s.node(t, "gates")
	perf := func(cpu float64) ratios.Ratio { return ratios.Ratio{CPUPerf: cpu, MemoryPerf: 1} }
	store := ratios.NewStore(ratiotest.NewMemory("memory", ratios.Update{Layer: &ratios.Layer{
		Settings: keys.Some(policy.Settings{Guard: everyPod}),
		Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": perf(1), "n4": perf(1.25)},
		Rules: []ratios.Rule{{Name: "fast", Match: policy.Criteria{ComputeClass: "Performance"}, Ratios: map[string]ratios.Ratio{"n4": perf(2)}}},
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
	defer func() {
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Errorf("ended with %v", err)
			}
		}
		events.Shutdown()
	}()

	controller, namespace := true, s.namespace(t)
	gated := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pod", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID, Controller: &controller},
		}},
		Spec: corev1.PodSpec{
			SchedulerName:   "none", // The test binds the pod, and writes its status without conflicts.
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/class"}},
			Containers:      []corev1.Container{{Name: "app", Image: "none", Resources: podtest.Guaranteed.Requirements()}},
		},
	}
	var p *corev1.Pod
	localcluster.Eventually(t, "the namespace's ServiceAccount", func() (err error) {
		p, err = s.client.CoreV1().Pods(namespace).Create(t.Context(), gated, metav1.CreateOptions{})
		return err
	})
	name := types.NamespacedName{Namespace: namespace, Name: p.Name}
	localcluster.Eventually(t, "the plan of the gated pod", func() error {
		planned, err := r.Preview(t.Context(), name, query.PreviewOptions{})
		if err == nil && (len(planned.Reasons) == 0 || planned.Reasons[0].Code != contract.NotScheduled) {
			err = fmt.Errorf("got %v", planned.Reasons)
		}
		return err
	})

	patch := func(patch string) error {
		_, err := s.client.CoreV1().Pods(namespace).Patch(t.Context(), p.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	const class = `{"spec":{"nodeSelector":{"cloud.google.com/compute-class":"%s"}}}`
	if err := patch(fmt.Sprintf(class, "Performance")); err != nil {
		t.Fatal(err)
	}
	if err := patch(fmt.Sprintf(class, "Balanced")); !apierrors.IsInvalid(err) {
		t.Errorf("another class: %v, want a refusal", err)
	}
	if err := patch(`{"spec":{"schedulingGates":null}}`); err != nil {
		t.Fatal(err)
	}
	if err := s.client.CoreV1().Pods(namespace).Bind(t.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: n.Name},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := patch(fmt.Sprintf(class, "Balanced")); !apierrors.IsInvalid(err) {
		t.Errorf("another class of a scheduled pod: %v, want a refusal", err)
	}
	p = s.running(t, s.get(t, p))
	localcluster.Eventually(t, "the size of the class", func() error {
		p = s.get(t, p)
		if got := p.Spec.Containers[0].Resources.Requests.Cpu().String(); got != "500m" {
			return fmt.Errorf("it has %s, %v; want 500m", got, p.Annotations)
		}
		return nil
	})
	if planned, err := r.Preview(t.Context(), name, query.PreviewOptions{}); err != nil || planned.Rule != "fast" {
		t.Errorf("plan %+v, %v; want the rule fast", planned, err)
	}
}
