package e2e

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// growing makes pods with the label e2e: grow need twice their requests, on n4 and on the
// node that has only an architecture.
var growing = withRules(fmt.Sprintf(`
podLabels:
  e2e:
    grow:
      nodeTypes:
        n4: { cpuPerf: 0.5, memPerf: 1.0 }
        %s: { cpuPerf: 0.5, memPerf: 1.0 }
`, runtime.GOARCH))

var grows = map[string]string{"e2e": "grow"}

// quota expects a pod to wait for room in a ResourceQuota, and to be resized when there
// is room.
func (c *cluster) quota(t *testing.T) {
	const namespace = "quota"
	c.configure(t, growing)
	s := c.serveReady(t)
	c.namespace(t, namespace)
	quotas := c.client.CoreV1().ResourceQuotas(namespace)
	quota, err := quotas.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "team"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("150m")}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.deploy(t, namespace, app{name: "web", nodeType: "n4", requests: small, labels: grows})
	c.awaitSkipped(t, s, c.one(t, namespace, "web"), "QuotaExceeded", "ResourceQuota team has no room: requests.cpu, requested: 100m, used: 100m, hard: 150m")
	c.checkCPU(t, namespace, "web", "100m")

	_, err = quotas.Patch(t.Context(), quota.Name, "application/merge-patch+json", []byte(`{"spec": {"hard": {"requests.cpu": "1"}}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.awaitCPU(t, namespace, "web", "200m")
}

// limitRange expects a pod to be skipped because of a LimitRange, and to be resized when
// the LimitRange is deleted.
func (c *cluster) limitRange(t *testing.T) {
	const namespace = "limitrange"
	c.configure(t, growing)
	s := c.serveReady(t)
	c.namespace(t, namespace)
	ranges := c.client.CoreV1().LimitRanges(namespace)
	if _, err := ranges.Create(t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "team"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("150m")},
		}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.deploy(t, namespace, app{name: "web", nodeType: "n4", requests: small, labels: grows})
	c.awaitSkipped(t, s, c.one(t, namespace, "web"), "LimitRangeViolation", "LimitRange team: container app")
	c.checkCPU(t, namespace, "web", "100m")

	if err := ranges.Delete(t.Context(), "team", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.awaitCPU(t, namespace, "web", "200m")
}

// nodeCapacity expects a pod to wait for room on a node that another pod fills. The node
// without a type has room for both as written, and has no pods of other journeys.
func (c *cluster) nodeCapacity(t *testing.T) {
	const namespace, node = "capacity", "node-0"
	c.configure(t, growing)
	s := c.serveReady(t)
	c.namespace(t, namespace)
	there := map[string]string{corev1.LabelHostname: node}
	c.deploy(t, namespace,
		app{name: "neighbor", requests: [2]string{"5", "64Mi"}, selector: there},
		app{name: "web", requests: [2]string{"2", "64Mi"}, selector: there, labels: grows})
	c.awaitSkipped(t, s, c.one(t, namespace, "web"), "NodeCapacity", "node node-0 has no room: cpu, requested: 4, other pods: ")
	c.checkCPU(t, namespace, "web", "2")

	if err := c.client.AppsV1().Deployments(namespace).Delete(t.Context(), "neighbor", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.awaitCPU(t, namespace, "web", "4")
}
