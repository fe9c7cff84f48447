package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// toldOnce restarts the server, which must not repeat an event for a pod that has not
// changed.
func (c *cluster) toldOnce(t *testing.T) {
	const namespace = "told"
	s := c.serveReady(t)
	c.namespace(t, namespace)
	c.deploy(t, namespace,
		app{name: "unknown", nodeType: "x9", requests: small},
		app{name: "web", nodeType: "n4", requests: small})
	c.awaitCPU(t, namespace, "web", "80m")
	unknown, web := c.one(t, namespace, "unknown"), c.one(t, namespace, "web")
	c.awaitEvent(t, namespace, unknown.UID, "UnknownNodeType", `"x9"`)
	c.awaitEvent(t, namespace, web.UID, "Resized", "app: cpu 100m → 80m")
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	before := c.told(t, unknown) + c.told(t, web)
	for range 2 {
		s = c.serveReady(t)
		// After the server has planned the pod, it has recorded the event or will not do
		// so.
		localcluster.Eventually(t, "the server to have planned the pod", func() error {
			if s.metric(t, `workload_resizer_pods{decision="skip",reason="UnknownNodeType"}`) == 0 {
				return fmt.Errorf("it has not")
			}
			return nil
		})
		c.awaitSettled(t, s, namespace)
		// When the server ends, it sends the pending events.
		if err := s.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	if after := c.told(t, unknown) + c.told(t, web); after != before {
		t.Errorf("there were %d events before the restarts, %d after", before, after)
	}
}

// told returns how many events the server has recorded for a pod.
func (c *cluster) told(t *testing.T, p *corev1.Pod) int32 {
	t.Helper()
	list, err := c.client.CoreV1().Events(p.Namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(p.UID)})
	if err != nil {
		t.Fatal(err)
	}
	count := int32(0)
	for i := range list.Items {
		if e := &list.Items[i]; e.Source.Component == "workload-resizer" {
			count += max(e.Count, 1)
		}
	}
	return count
}

// actuationCounted expects the metrics to count the resizes that the kubelets have
// actuated.
func (c *cluster) actuationCounted(t *testing.T) {
	const namespace = "actuated"
	const seconds = "workload_resizer_actuation_seconds"
	s := c.serveReady(t)
	c.namespace(t, namespace)
	c.deploy(t, namespace, app{name: "web", nodeType: "n4", replicas: 3, requests: small})
	c.awaitCPU(t, namespace, "web", "80m")
	c.awaitSettled(t, s, "")
	localcluster.Eventually(t, "every resize to be actuated and counted", func() error {
		written := s.metric(t, `workload_resizer_api_writes_total{code="200",step="resize"}`)
		counted, told := s.metric(t, seconds+"_count"), s.metric(t, `workload_resizer_outcomes_total{reason="ResizeActuated"}`)
		if written < 3 || counted != written || told != written {
			return fmt.Errorf("%v are written, %v counted, %v reported", written, counted, told)
		}
		return nil
	})
	if sum := s.metric(t, seconds+"_sum"); sum <= 0 {
		t.Errorf("the actuations took %v s", sum)
	}
}
