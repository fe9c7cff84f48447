package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestWrites has sizes and admission policies that decide what becomes of a write.
func TestWrites(t *testing.T) {
	t.Parallel()
	c := newCluster(localcluster.ForTest(t, "n2d=1,n4=1"))
	c.install(t)
	c.apply(t, withN4("1.25"))
	t.Run("memory with a fraction of a byte does not keep a resize from ending", c.fractions)
	t.Run("a denied resize is known to every replica, and seldom repeated", c.denied)
	t.Run("a resize that a policy changes is not called resized", c.changedByPolicy)
	t.Run("a vertical autoscaler sizes only its part of a pod", c.partsOfVerticalAutoscalers)
}

// fractions changes the ratio of pods whose memory is not a whole number of bytes. The kubelet never
// completes a resize to such a size.
func (c *cluster) fractions(t *testing.T) {
	const namespace, bytes = "fractions", "1181116007"
	s := c.serveReady(t)
	c.namespace(t, namespace)
	of := [2]string{"100m", "1.1Gi"}
	c.deploy(t, namespace,
		app{name: "guaranteed", nodeType: "n4", requests: of},
		app{name: "burstable", nodeType: "n4", requests: of, limits: [2]string{"200m", "1.1Gi"}},
		app{name: "baseline", nodeType: "n2d", requests: of})
	want := func(app string, want [4]string) *corev1.Pod {
		t.Helper()
		localcluster.Eventually(t, fmt.Sprintf("%s to run with %v", app, want), func() error {
			p := c.one(t, namespace, app)
			if got := texts(p.Spec.Containers[0].Resources); got != want {
				return fmt.Errorf("it has %v", got)
			}
			if len(p.Status.Conditions) == 0 || resizing(p) {
				return fmt.Errorf("its resize has not ended: %v", p.Status.Conditions)
			}
			return hasCPU(p, want[0])
		})
		return c.one(t, namespace, app)
	}
	want("guaranteed", [4]string{"80m", "80m", bytes, bytes})
	want("burstable", [4]string{"80m", "160m", bytes, bytes})
	if p := want("baseline", [4]string{"100m", "100m", "1181116006400m", "1181116006400m"}); p.Generation != 1 {
		t.Errorf("a pod that needs no resize has generation %d, want 1", p.Generation)
	}

	c.reconfigure(t, s, withN4("1.6"))
	want("guaranteed", [4]string{"63m", "63m", bytes, bytes})
	if p := want("burstable", [4]string{"63m", "125m", bytes, bytes}); p.Status.QOSClass != corev1.PodQOSBurstable {
		t.Errorf("the QoS class is %s, want Burstable", p.Status.QOSClass)
	}

	wants(t, s.resizectl(t, 0, "restore", "-n", namespace, "--yes"), "restored")
	if p := want("guaranteed", [4]string{"100m", "100m", bytes, bytes}); ours(p.Annotations) != nil {
		t.Errorf("the restored pod has %v", ours(p.Annotations))
	}
	s.resizectl(t, 0, "resume", "-n", namespace)
	want("guaranteed", [4]string{"63m", "63m", bytes, bytes})
}

// resizing reports whether the kubelet has not completed a resize.
func resizing(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress
	})
}

// denies is a policy that denies resizes of cpu below 70m in a namespace.
const denies = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: no-small }
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [pods/resize] }]
    namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: denied } }
  validations:
    - expression: "object.spec.containers.all(c, quantity(c.resources.requests['cpu']).compareTo(quantity('70m')) >= 0)"
      message: "cpu requests below 70m are not allowed here"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: no-small }
spec: { policyName: no-small, validationActions: [Deny] }
`

// denied lets a policy deny the second resize of a pod.
func (c *cluster) denied(t *testing.T) {
	const namespace, message = "denied", "cpu requests below 70m are not allowed here"
	s := c.serveLeading(t)
	other := c.serveReady(t)
	c.apply(t, []byte(denies))
	c.namespace(t, namespace)
	c.deploy(t, namespace, app{name: "web", nodeType: "n4", requests: small})
	c.awaitCPU(t, namespace, "web", "80m")
	c.awaitPolicy(t, namespace, "web", "65m", func(got *corev1.Pod, err error) bool { return err != nil })
	c.reconfigure(t, s, withN4("1.6"))
	p := c.one(t, namespace, "web")
	for _, replica := range []*server{s, other} {
		c.awaitSkipped(t, replica, p, "ResizeFailed", message)
		wants(t, replica.resizectl(t, 0, "explain", "-n", namespace, p.Name), "ResizeFailed", message)
		wants(t, replica.resizectl(t, 0, "resizes", "list", "-n", namespace, "-o", "wide"), "failed", message)
		localcluster.Eventually(t, "the problem in the status", func() error {
			if said := replica.resizectl(t, 0, "status"); !strings.Contains(said, "1 pod is not resized, because the API server does not accept its size") {
				return fmt.Errorf("it prints %s", said)
			}
			return nil
		})
	}
	if n := c.told(t, p); n != 2 { // Resized, ResizeFailed
		t.Errorf("the pod has %d events, want 2", n)
	}
	// The pod has the size that it would get at the former ratio.
	c.reconfigure(t, s, withN4("1.25"))
	localcluster.Eventually(t, "the failure to be forgotten", func() error {
		if said, ok := c.one(t, namespace, "web").Annotations["workload-resizer.io/infeasible"]; ok {
			return fmt.Errorf("the pod records %q", said)
		}
		return nil
	})
	for _, replica := range []*server{s, other} {
		replica.awaitReason(t, p, workloadresizerv1.Decision_DECISION_ALIGNED, "AlreadyAligned")
		wants(t, replica.resizectl(t, 0, "resizes", "list", "-n", namespace), "actuated")
	}
}

// changes is a policy that sets cpu to 90m in each resize in a namespace.
const changes = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: { name: cap }
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [pods/resize] }]
    namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: changed } }
  mutations:
    - patchType: JSONPatch
      jsonPatch:
        expression: '[JSONPatch{op: "replace", path: "/spec/containers/0/resources/requests/cpu", value: "90m"}]'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: { name: cap }
spec: { policyName: cap }
`

// changedByPolicy lets a policy change the first resize of a pod.
func (c *cluster) changedByPolicy(t *testing.T) {
	const namespace, message = "changed", "an admission policy or webhook changes it: container app: cpu request is 90m instead of 80m"
	c.namespace(t, namespace)
	c.apply(t, []byte(changes))
	limits := [2]string{"1", "128Mi"}
	c.deploy(t, namespace, app{name: "probe", nodeType: "n2d", requests: small, limits: limits})
	c.awaitPolicy(t, namespace, "probe", "70m", func(got *corev1.Pod, err error) bool {
		return err == nil && text(got.Spec.Containers[0].Resources.Requests, corev1.ResourceCPU) == "90m"
	})
	s := c.serveLeading(t)
	c.deploy(t, namespace, app{name: "web", nodeType: "n4", requests: small, limits: limits})
	p := c.one(t, namespace, "web")
	c.awaitSkipped(t, s, p, "ResizeFailed", message)
	wants(t, s.resizectl(t, 0, "resizes", "list", "-n", namespace, "-o", "wide"), "failed", message)
	localcluster.Eventually(t, "the failure to be recorded", func() error {
		if c.one(t, namespace, "web").Annotations["workload-resizer.io/infeasible"] == "" {
			return errors.New("it is not")
		}
		return nil
	})
	p = c.one(t, namespace, "web")
	got := ours(p.Annotations)
	if got["workload-resizer.io/original-cpu.app"] != "100m" || got["workload-resizer.io/applied-sizes"] != "" || got["workload-resizer.io/applied-instance-type"] != "" {
		t.Errorf("the pod is annotated with %v", got)
	}
	if n := c.told(t, p); n != 1 {
		t.Errorf("the pod has %d events, want 1", n)
	}
	// Another process tries it again, and again if it has begun before it has seen that it leads.
	s = c.restart(t, s)
	const writes = `workload_resizer_api_writes_total{code="200",step="resize"}`
	localcluster.Eventually(t, "the second server to try it", func() error {
		if s.metric(t, writes) == 0 {
			return errors.New("it has not")
		}
		return nil
	})
	c.awaitSkipped(t, s, p, "ResizeFailed", message)
	if n := s.metric(t, writes); n > 2 {
		t.Errorf("the second server has made %v resizes, want 1 or 2", n)
	}
	if resized := s.metric(t, `workload_resizer_resizes_total{reason="",result="resized"}`); resized != 0 {
		t.Errorf("it counts %v pods as resized", resized)
	}
}

// serveLeading starts a server and waits until it leads.
func (c *cluster) serveLeading(t *testing.T) *server {
	t.Helper()
	s := c.serveReady(t)
	localcluster.Eventually(t, "the server to lead", func() error {
		if !leads(t, s) {
			return errors.New("it does not")
		}
		return nil
	})
	return s
}

// awaitPolicy waits until a dry run of a resize of an app's pod shows that a policy is in effect.
func (c *cluster) awaitPolicy(t *testing.T, namespace, app, cpu string, shows func(*corev1.Pod, error) bool) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": %q}, "limits": {"cpu": %[1]q}}}]}}`, cpu)
	p := c.one(t, namespace, app)
	if p.Status.QOSClass == corev1.PodQOSBurstable {
		patch = fmt.Appendf(nil, `{"spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": %q}}}]}}`, cpu)
	}
	localcluster.Eventually(t, "the policy to be in effect", func() error {
		got, err := c.client.CoreV1().Pods(namespace).Patch(t.Context(), p.Name, types.StrategicMergePatchType, patch,
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "resize")
		if !shows(got, err) {
			return fmt.Errorf("a dry run returns: %w", err)
		}
		return nil
	})
}
