package e2e

import (
	"fmt"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// vpaKind is the part of the VerticalPodAutoscaler's definition that the API server
// needs. Nothing here acts on such objects.
const vpaKind = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: verticalpodautoscalers.autoscaling.k8s.io
  annotations: { api-approved.kubernetes.io: "https://github.com/kubernetes/kubernetes/pull/63797" }
spec:
  group: autoscaling.k8s.io
  scope: Namespaced
  names: { kind: VerticalPodAutoscaler, plural: verticalpodautoscalers, singular: verticalpodautoscaler, listKind: VerticalPodAutoscalerList }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`

func vpa(namespace, mode string) []byte {
	return fmt.Appendf(nil, `
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: { name: tuner, namespace: %s }
spec:
  targetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  updatePolicy: { updateMode: "%s" }
`, namespace, mode)
}

// verticalAutoscaler expects pods to be skipped if their workload has a
// VerticalPodAutoscaler. Both the object and its kind appear while the server runs.
func (c *cluster) verticalAutoscaler(t *testing.T) {
	const namespace = "vpa"
	s := c.serveReady(t)
	c.apply(t, []byte(vpaKind))
	c.namespace(t, namespace)
	c.deploy(t, namespace,
		app{name: "web", nodeType: "n4", requests: small},
		app{name: "control", nodeType: "n4", requests: small})
	c.awaitCPU(t, namespace, "web", "80m")
	localcluster.Eventually(t, "the API server to accept VerticalPodAutoscalers", func() error {
		return localcluster.Apply(t.Context(), c.Config(), vpa(namespace, "Auto"))
	})
	web := c.one(t, namespace, "web")
	c.awaitSkipped(t, s, web, "ActiveVPA", "VerticalPodAutoscaler tuner sizes the pod's workload")

	c.reconfigure(t, s, withN4("1.6"))
	c.awaitCPU(t, namespace, "control", "63m")
	c.checkCPU(t, namespace, "web", "80m")

	c.apply(t, vpa(namespace, "Off"))
	c.awaitCPU(t, namespace, "web", "63m")
}

// partsOfVerticalAutoscalers expects cpu to be resized next to a VerticalPodAutoscaler for memory, and not
// while another one boosts the start of the pod.
func (c *cluster) partsOfVerticalAutoscalers(t *testing.T) {
	const namespace, boost = "vpa-parts", "vpaCpuStartupBoost/app"
	c.apply(t, []byte(vpaKind))
	c.namespace(t, namespace)
	for name, spec := range map[string]string{
		"memory": `updatePolicy: { updateMode: InPlaceOrRecreate }, resourcePolicy: { containerPolicies: [{ containerName: "*", controlledResources: [memory] }] }`,
		"apart":  `updatePolicy: { updateMode: Recreate }, resourcePolicy: { containerPolicies: [{ containerName: app, mode: "Off" }] }`,
		"start":  `updatePolicy: { updateMode: "Off" }, startupBoost: { cpu: { type: Factor, factor: 3, durationSeconds: 60 } }`,
	} {
		localcluster.Eventually(t, "the API server to accept VerticalPodAutoscalers", func() error {
			return localcluster.Apply(t.Context(), c.Config(), fmt.Appendf(nil, `
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: { name: %[2]s, namespace: %[1]s }
spec: { targetRef: { apiVersion: apps/v1, kind: Deployment, name: %[2]s }, %[3]s }
`, namespace, name, spec))
		})
	}
	s := c.serveReady(t) // It would learn of the new kind only after a while.
	limits := [2]string{"200m", "128Mi"}
	c.deploy(t, namespace,
		app{name: "memory", nodeType: "n4", requests: small, limits: limits},
		app{name: "apart", nodeType: "n4", requests: small, limits: limits},
		app{name: "start", nodeType: "n4", requests: small, limits: limits, annotations: map[string]string{boost: "{}"}})
	c.awaitCPU(t, namespace, "memory", "80m")
	c.awaitCPU(t, namespace, "apart", "80m")
	start := c.one(t, namespace, "start")
	c.awaitSkipped(t, s, start, "ActiveVPA", "cpu is left to VerticalPodAutoscaler start")
	c.checkCPU(t, namespace, "start", "100m")
	patch := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: null}}}`, boost)
	if _, err := c.client.CoreV1().Pods(namespace).Patch(t.Context(), start.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	c.awaitCPU(t, namespace, "start", "80m")
}

// horizontalAutoscaler expects the plan to show what a resize means for a
// HorizontalPodAutoscaler, which does not prevent the resize, before the resize and after it.
func (c *cluster) horizontalAutoscaler(t *testing.T) {
	const namespace = "hpa"
	s := c.serveReady(t, "--dry-run")
	c.namespace(t, namespace)
	share, most := int32(80), int32(1)
	if _, err := c.client.AutoscalingV2().HorizontalPodAutoscalers(namespace).Create(t.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "scaler"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			MaxReplicas:    most,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &share},
			}}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.deploy(t, namespace, app{name: "web", nodeType: "n4", requests: small})
	web := c.one(t, namespace, "web")
	s.awaitReason(t, web, workloadresizerv1.Decision_DECISION_RESIZE, "HPAUtilization")
	wants(t, s.resizectl(t, 1, "plan", "-n", namespace, web.Name), "100m → 80m",
		"would be resized: HPAUtilization: HorizontalPodAutoscaler scaler targets 80% of cpu requests: after this resize, the utilization for the same load is 1.25 times as high")

	s = c.restart(t, s)
	c.awaitCPU(t, namespace, "web", "80m")
	c.awaitEvent(t, namespace, web.UID, "Resized", "app: cpu 100m → 80m")
	s.awaitReason(t, web, workloadresizerv1.Decision_DECISION_ALIGNED, "HPAUtilization")
	wants(t, s.resizectl(t, 0, "explain", "-n", namespace, web.Name),
		"HPAUtilization: HorizontalPodAutoscaler scaler targets 80% of cpu requests: compared with the original requests, the utilization for the same load is 1.25 times as high")
}
