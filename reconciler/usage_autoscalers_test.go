package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// sizedBy is the label of pods whose sizes follow usage.
const sizedBy = "sized-by"

// ruleByUsage is the rule for these pods. Their original is below the least that it allows, which is
// corrected immediately, no matter when it was set.
var ruleByUsage = ratios.Rule{
	Name: "usage", Match: policy.Criteria{Labels: map[string]string{sizedBy: "usage"}},
	Settings: keys.Some(policy.Settings{Demand: policy.Demand{
		From: policy.FromUsage, Mode: policy.Apply,
		CPU: policy.ResourceDemand{Bounds: sizing.Range{Min: 90}}, Memory: policy.ResourceDemand{Bounds: sizing.Range{Min: 180 << 20}},
	}}),
}

// These pods request 50m and 100Mi, and use twice as much.
const (
	usedMillicores, usedBytes         = 100, 200 << 20
	authoredMillicores, authoredBytes = 40, 100 << 20 // On the node, which is 1.25 times as fast as the baseline.
)

// busy is a source of usage that measures the same of each container whose size follows usage.
type busy struct{ pods func() []*pod.Pod }

func (b *busy) Name() string { return "busy" }

func (b *busy) Read(_ context.Context, _, until time.Time, observe func(usage.Sample)) error {
	for _, p := range b.pods() {
		if by, _ := p.Label(sizedBy); by != "usage" {
			continue
		}
		for i := range p.Containers {
			s := usage.Sample{Namespace: p.Namespace(), Name: p.Name, Container: p.Containers[i].Name()}
			s.UID, s.At, s.Length = string(p.UID), until, time.Second
			s.Resource, s.Usage = history.CPU, usedMillicores
			observe(s)
			s.Resource, s.Usage = history.Memory, usedBytes
			observe(s)
		}
	}
	return nil
}

// sized says for the containers app and second of a pod whether cpu and memory follow usage.
type sized [2][2]bool

// problem returns how the sizes of a pod's containers differ from what they should be; nil if they do not.
func (s sized) problem(of func(container int) sizing.Container) error {
	for i, container := range s {
		for _, m := range sizing.Measures {
			has, authored, used := of(i), [2]int64{authoredMillicores, authoredBytes}[m.Index], [2]int64{usedMillicores, usedBytes}[m.Index]
			if request := m.Of(&has).Request; container[m.Index] && request < used || !container[m.Index] && request != authored {
				return fmt.Errorf("container %d: %s %s, by usage: %v", i, m.Name, m.Text(request), container[m.Index])
			}
		}
	}
	return nil
}

// usageNextToAutoscalers has a workload for each kind of metric. Nothing has a size by usage that a
// HorizontalPodAutoscaler compares with usage, and everything else does.
func (s *above) usageNextToAutoscalers(t *testing.T) {
	ns, elsewhere := s.namespace(t), s.namespace(t)
	s.nodeOf(t, "busy", "n4")
	all := sized{{true, true}, {true, true}}
	noCPU, noMemory := sized{{false, true}, {false, true}}, sized{{true, false}, {true, false}}
	const percent, average = `target: { type: Utilization, averageUtilization: 80 }`, `target: { type: AverageValue, averageValue: 90m }`
	workloads := []struct {
		name, autoscalers string
		want              sized
	}{
		{"none", "", all},
		{"cpu", scaler("cpu", `{ type: Resource, resource: { name: cpu, `+percent+` } }`), noCPU},
		{"memory", scaler("memory", `{ type: Resource, resource: { name: memory, `+percent+` } }`), noMemory},
		{"container", scaler("container", `{ type: ContainerResource, containerResource: { container: app, name: cpu, `+percent+` } }`), sized{{false, true}, {true, true}}},
		{"average", scaler("average", `{ type: Resource, resource: { name: cpu, `+average+` } }, { type: ContainerResource, containerResource: { container: app, name: memory, `+average+` } }`), all},
		{"pods", scaler("pods", `{ type: Pods, pods: { metric: { name: requests }, `+average+` } }`), all},
		{"object", scaler("object", `{ type: Object, object: { metric: { name: requests }, describedObject: { apiVersion: v1, kind: Service, name: web }, target: { type: Value, value: "9" } } }`), all},
		{"external", scaler("external", `{ type: External, external: { metric: { name: queue }, `+average+` } }`), all},
		{"default", scaler("default", ""), noCPU}, // The API server adds cpu utilization.
		{"two", scaler("two", `{ type: Resource, resource: { name: cpu, `+percent+` } }`) + strings.Replace(
			scaler("two", `{ type: Resource, resource: { name: memory, `+percent+` } }`), "name: two", "name: another", 1), sized{}},
		{"foreign", strings.Replace(scaler("foreign", `{ type: Resource, resource: { name: cpu, `+percent+` } }`), "apps/v1", "example.com/v1", 1), all},
		{"elsewhere", strings.Replace(scaler("elsewhere", `{ type: Resource, resource: { name: cpu, `+percent+` } }`), "NAMESPACE", elsewhere, 1), all},
		{"v1", `
---
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: { name: v1, namespace: NAMESPACE }
spec: { scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: v1 }, maxReplicas: 3, targetCPUUtilizationPercentage: 70 }
`, noCPU},
		{"rollout", strings.NewReplacer("apps/v1", "argoproj.io/v1alpha1", "Deployment", "Rollout").Replace(scaler("rollout", `{ type: Resource, resource: { name: cpu, `+percent+` } }`)), noCPU},
	}
	pods := map[string]types.NamespacedName{}
	for _, w := range workloads {
		if w.autoscalers != "" {
			s.autoscale(t, ns, w.autoscalers)
		}
		pods[w.name] = s.busyPod(t, ns, w.name)
	}
	for _, w := range workloads {
		localcluster.Eventually(t, "the preview of "+w.name, func() error {
			p, err := s.r.Preview(t.Context(), pods[w.name], query.PreviewOptions{})
			if err != nil {
				return err
			}
			says := slices.ContainsFunc(p.Reasons, func(r plan.Reason) bool {
				return r.Code == contract.HPAUtilization && strings.Contains(r.Message, "is not sized by usage: HorizontalPodAutoscaler ")
			})
			if says != (w.want != all) {
				err = fmt.Errorf("it says %v", p.Reasons)
			}
			return errors.Join(err, w.want.problem(func(i int) sizing.Container { return p.Containers[i].Desired }))
		})
	}
	for _, w := range workloads {
		s.awaitSized(t, pods[w.name], w.want)
	}
	s.autoscale(t, ns, scaler("average", `{ type: Resource, resource: { name: memory, `+percent+` } }`))
	s.awaitSized(t, pods["average"], noMemory)
	s.autoscale(t, ns, scaler("average", `{ type: Resource, resource: { name: memory, `+average+` } }`))
	s.awaitSized(t, pods["average"], all)
	if err := s.client.AutoscalingV2().HorizontalPodAutoscalers(ns).Delete(t.Context(), "memory", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.awaitSized(t, pods["memory"], all)
}

// scaler returns a HorizontalPodAutoscaler for the Deployment of its name.
func scaler(name, metrics string) string {
	return fmt.Sprintf(`
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: %[1]s, namespace: NAMESPACE }
spec: { scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: %[1]s }, maxReplicas: 3, metrics: [%[2]s] }
`, name, metrics)
}

// autoscale applies autoscalers.
func (s *above) autoscale(t *testing.T, ns, manifest string) {
	t.Helper()
	if err := localcluster.Apply(t.Context(), s.config, []byte(strings.ReplaceAll(manifest, "NAMESPACE", ns))); err != nil {
		t.Fatal(err)
	}
}

// busyPod creates a Deployment or, for this name, a ReplicaSet of a Rollout. It returns the pod.
func (s *above) busyPod(t *testing.T, ns, name string) types.NamespacedName {
	t.Helper()
	selector, template := templateOf(name)
	template.Labels[sizedBy] = "usage"
	amounts := podtest.Amounts{"50m", "", "100Mi", ""}.Requirements()
	template.Spec.NodeName = "busy"
	template.Spec.Containers = []corev1.Container{{Name: "app", Image: "none", Resources: amounts}, {Name: "second", Image: "none", Resources: amounts}}
	meta, err := metav1.ObjectMeta{Name: name}, error(nil)
	if name == "rollout" {
		meta.OwnerReferences = s.custom(t, rollouts, ns, name, nil)
		_, err = s.client.AppsV1().ReplicaSets(ns).Create(t.Context(), &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}}, metav1.CreateOptions{})
	} else {
		_, err = s.client.AppsV1().Deployments(ns).Create(t.Context(), &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.podOf(t, ns, name)
}

// awaitSized waits until a pod has the sizes that it should have.
func (s *above) awaitSized(t *testing.T, name types.NamespacedName, want sized) {
	t.Helper()
	localcluster.Eventually(t, "the sizes of "+name.Name, func() error {
		p, err := s.client.CoreV1().Pods(name.Namespace).Get(t.Context(), name.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return want.problem(func(i int) sizing.Container { return sizing.FromResources(p.Spec.Containers[i].Resources) })
	})
}
