package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	known "github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
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

// tunedWorkloads is the configuration, and a namespace.
const tunedWorkloads = planeConfig + `
---
apiVersion: v1
kind: Namespace
metadata: {name: tuned}
`

// tunedDeployment returns a Deployment whose containers use more cpu than they request.
func tunedDeployment(name string) []byte {
	return fmt.Appendf(nil, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: tuned}
spec:
  replicas: 2
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata:
      labels: {app: %[1]s}
      annotations: {work.testcluster.local/app: '{cpu: 400m, memory: 64Mi}'}
    spec:
      nodeSelector: {cloud.google.com/machine-family: n2d}
      containers: [{name: app, image: none, resources: {requests: {cpu: 200m, memory: 256Mi}, limits: {cpu: "2", memory: 512Mi}}}]
`, name)
}

// tuner returns a VerticalPodAutoscaler for the Deployment with its name.
func tuner(name, recommender, mode, spec string) []byte {
	return fmt.Appendf(nil, `
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: %[1]s, namespace: tuned, annotations: {workload-resizer.io/mode: apply}}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: %[1]s}
  recommenders: [{name: %[2]s}]
  updatePolicy: {updateMode: "%[3]s", minReplicas: 1}
  %[4]s
`, name, recommender, mode, spec)
}

func TestVPAObjects(t *testing.T) {
	t.Parallel()
	t.Run("workloads are sized as their VerticalPodAutoscaler says, next to its updater", sizedNextToTheUpdater)
}

// tunedCluster is a cluster with the definitions of the Vertical Pod Autoscaler, and its updater.
type tunedCluster struct {
	*cluster
	vpas dynamic.ResourceInterface
}

func sizedNextToTheUpdater(t *testing.T) {
	t.Parallel()
	c := newCluster(localcluster.ForTestWith(t, localcluster.Options{Nodes: "n2d=1", NodeCPU: 8, MetricsServer: true}))
	u := &tunedCluster{cluster: c, vpas: dynamic.NewForConfigOrDie(c.Config()).Resource(known.VPAResource).Namespace("tuned")}
	u.apply(t, append(deploy.Base(), deploy.VPAObjects(), []byte(tunedWorkloads), definitions(t))...)
	u.apply(t, tunedDeployment("ours"), tunedDeployment("theirs"), tunedDeployment("twice"))
	// With little history, a size would stay unless it is outside of the bounds.
	const bounded = `resourcePolicy: {containerPolicies: [{containerName: app, controlledResources: [cpu], controlledValues: RequestsOnly, minAllowed: {cpu: 250m}, maxAllowed: {cpu: 300m}}]}`
	localcluster.Eventually(t, "the API server to accept VerticalPodAutoscalers", func() error {
		return localcluster.Apply(t.Context(), u.Config(),
			tuner("ours", "workload-resizer", "Off", bounded), tuner("twice", "workload-resizer", "Off", bounded),
			tuner("theirs", "default", "Recreate", ""), tuner("active", "workload-resizer", "Recreate", ""))
	})
	u.recommend(t, "active", `{"cpu": "400m"}`)
	u.awaitRunning(t, "tuned", 6)
	u.runUpdater(t)
	s := u.serve(t, u.serviceAccount(t), append([]string{"--usage-interval=10s", "--vpa-objects"}, asDeployed...)...).ready(t)
	ours := u.uids(t, "ours")

	t.Run("the recommendation is in its status", func(t *testing.T) {
		u.awaitStatus(t, "ours", "RecommendationProvided=True Applied", "cpu:300m")
		shown, err := localcluster.Shell(t.Context(), u.Kubeconfig, "kubectl get vpa -n tuned ours --no-headers")
		if fields := strings.Fields(shown); err != nil || len(fields) < 4 || !slices.Equal(fields[:4], []string{"ours", "Off", "300m", "True"}) {
			t.Errorf("kubectl shows %s, %v", shown, err)
		}
	})
	t.Run("its pods are resized in place, within its bounds", func(t *testing.T) {
		for _, name := range []string{"ours", "twice"} {
			u.awaitCPU(t, "tuned", name, "300m")
			for _, p := range u.of(t, "tuned", name) {
				if r := p.Spec.Containers[0].Resources; r.Limits.Cpu().String() != "2" || r.Requests.Memory().String() != "256Mi" {
					t.Errorf("%s has %v", p.Name, r)
				}
			}
		}
	})
	t.Run("the updater acts on others", func(t *testing.T) {
		before := u.uids(t, "theirs")
		u.recommend(t, "theirs", `{"cpu": "400m"}`)
		localcluster.Eventually(t, "the updater to evict a pod", func() error {
			if slices.Equal(before, u.uids(t, "theirs")) {
				return errors.New("no pod is new")
			}
			return nil
		})
		s.awaitReason(t, &u.of(t, "tuned", "theirs")[0], workloadresizerv1.Decision_DECISION_SKIP, "ActiveVPA")
	})
	t.Run("an object on which the updater acts is refused, and its recommendation removed", func(t *testing.T) {
		u.awaitStatus(t, "active", "ConfigUnsupported=True UpdateModeNotOff", "map[]")
		u.awaitStatus(t, "active", "NoPodsMatched=True NoPods", "map[]")
	})
	t.Run("of two objects for a target none counts", func(t *testing.T) {
		u.apply(t, []byte(strings.Replace(string(tuner("twice", "workload-resizer", "Off", "")), "metadata: {name: twice", "metadata: {name: again", 1)))
		u.awaitStatus(t, "again", "ConfigUnsupported=True SeveralObjects", "map[]")
		u.awaitStatus(t, "twice", "ConfigUnsupported=True SeveralObjects", "cpu:300m")
	})
	t.Run("the updater never acts on ours", func(t *testing.T) {
		if now := u.uids(t, "ours"); !slices.Equal(ours, now) {
			t.Errorf("%v became %v", ours, now)
		}
		for _, p := range u.of(t, "tuned", "ours") {
			for _, by := range p.ManagedFields {
				if by.Subresource == "resize" && by.Manager != contract.FieldManager {
					t.Errorf("%s was resized by %s", p.Name, by.Manager)
				}
			}
		}
	})
}

// runUpdater runs the updater of the Vertical Pod Autoscaler, which looks every second, until the test ends.
func (u *tunedCluster) runUpdater(t *testing.T) {
	t.Helper()
	u.ProgramForTest(t, "vpa-updater", "--updater-interval", "1s", "--use-admission-controller-status=false", "--min-replicas", "1",
		"--in-recommendation-bounds-eviction-lifetime-threshold", "1s", "-v", "3")
}

// definitions returns those of the Vertical Pod Autoscaler.
func definitions(t *testing.T) []byte {
	t.Helper()
	content, err := localcluster.VPADefinitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// recommend writes a recommendation for the container app into an object, as another recommender would.
func (u *tunedCluster) recommend(t *testing.T, name, target string) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"status": {"recommendation": {"containerRecommendations": [{"containerName": "app",
		"target": %[1]s, "lowerBound": %[1]s, "upperBound": %[1]s}]}}}`, target)
	if _, err := u.vpas.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

// uids returns the UIDs of the pods of a Deployment, in order.
func (u *tunedCluster) uids(t *testing.T, name string) (all []types.UID) {
	t.Helper()
	for _, p := range u.of(t, "tuned", name) {
		all = append(all, p.UID)
	}
	slices.Sort(all)
	return all
}

// awaitStatus waits until an object has a condition, and until the targets in its status, as text, contain this.
func (u *tunedCluster) awaitStatus(t *testing.T, name, condition, target string) {
	t.Helper()
	localcluster.Eventually(t, name+" to have "+condition, func() error {
		o, err := u.vpas.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var conditions []string
		targets := map[string]any{}
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range list {
			c := c.(map[string]any)
			conditions = append(conditions, fmt.Sprintf("%v=%v %v", c["type"], c["status"], c["reason"]))
		}
		list, _, _ = unstructured.NestedSlice(o.Object, "status", "recommendation", "containerRecommendations")
		for _, c := range list {
			c := c.(map[string]any)
			targets[c["containerName"].(string)] = c["target"]
		}
		if !slices.Contains(conditions, condition) || !strings.Contains(fmt.Sprint(targets), target) {
			return fmt.Errorf("it has %q and %v", conditions, targets)
		}
		return nil
	})
}
