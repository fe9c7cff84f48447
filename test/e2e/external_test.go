package e2e

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// externallyResized resizes a pod as another actor, and checks each way to handle that.
func (c *cluster) externallyResized(t *testing.T) {
	const namespace = "external"
	s := c.serveReady(t)
	c.namespace(t, namespace)
	c.deploy(t, namespace,
		app{name: "web", nodeType: "n4", requests: small},
		app{name: "control", nodeType: "n4", requests: small})
	c.awaitCPU(t, namespace, "web", "80m")
	c.awaitCPU(t, namespace, "control", "80m")

	// Skipped, even after a change to the ratio and a restart.
	c.resizeByHand(t, namespace, "web", "120m")
	c.awaitSkipped(t, s, c.one(t, namespace, "web"), "ExternallyResized", "container app: cpu stays as kubectl-patch set it")
	c.reconfigure(t, s, withN4("1.6"))
	c.awaitCPU(t, namespace, "control", "63m")
	c.checkCPU(t, namespace, "web", "120m")
	s = c.restart(t, s)
	c.reconfigure(t, s, withN4("1.25"))
	c.awaitCPU(t, namespace, "control", "80m")
	c.checkCPU(t, namespace, "web", "120m")
	wants(t, s.resizectl(t, 0, "plan", "-n", namespace, c.one(t, namespace, "web").Name), "is skipped: ExternallyResized")

	// Adopted: 120m on n4 corresponds to an original of 150m, from which later sizes
	// follow.
	s = c.restart(t, s, "--externally-resized=adopt")
	c.awaitOriginal(t, namespace, "web", "150m")
	c.checkCPU(t, namespace, "web", "120m")
	c.checkCPU(t, namespace, "control", "80m")
	c.reconfigure(t, s, withN4("2.0"))
	c.awaitCPU(t, namespace, "control", "50m")
	c.awaitCPU(t, namespace, "web", "75m")

	// Overridden: the pod gets the size that follows from its originals.
	s = c.restart(t, s, "--externally-resized=override")
	c.resizeByHand(t, namespace, "web", "200m")
	c.awaitCPU(t, namespace, "web", "75m")
	c.awaitOriginal(t, namespace, "web", "150m")
	wants(t, s.resizectl(t, 0, "plan", "-n", namespace, c.one(t, namespace, "web").Name), "is aligned: AlreadyAligned")
}

// resizeByHand resizes the only pod of an app as another actor would. It waits until a
// later second than the server's last write, because the API server records writes with
// that precision.
func (c *cluster) resizeByHand(t *testing.T, namespace, app, cpu string) {
	t.Helper()
	p := c.one(t, namespace, app)
	localcluster.Eventually(t, "the second of the server's last write to end", func() error {
		if now, last := time.Now(), lastWrite(p); now.Before(last.Add(time.Second)) {
			return fmt.Errorf("it is %s, the write was at %s", now, last)
		}
		return nil
	})
	patch := fmt.Sprintf(`{"spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": %[1]q}, "limits": {"cpu": %[1]q}}}]}}`, cpu)
	code, out, errOut := run(t, "kubectl", "--kubeconfig", c.Kubeconfig, "-n", namespace, "patch", "pod", p.Name, "--subresource", "resize", "-p", patch)
	if code != 0 {
		t.Fatalf("kubectl patch exits with %d: %s%s", code, out, errOut)
	}
	c.awaitActuated(t, namespace)
}

// lastWrite returns when any actor except the kubelet last wrote to a pod.
func lastWrite(p *corev1.Pod) time.Time {
	var last time.Time
	for _, m := range p.ManagedFields {
		if m.Subresource != "status" && m.Time != nil && m.Time.After(last) {
			last = m.Time.Time
		}
	}
	return last
}

// awaitOriginal waits until this CPU request is recorded as the pod's original.
func (c *cluster) awaitOriginal(t *testing.T, namespace, app, want string) {
	t.Helper()
	localcluster.Eventually(t, "the original to be "+want, func() error {
		if got := c.one(t, namespace, app).Annotations["workload-resizer.io/original-cpu.app"]; got != want {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}
