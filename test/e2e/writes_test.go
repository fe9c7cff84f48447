package e2e

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestWrites has sizes and admission policies that decide what becomes of a write.
func TestWrites(t *testing.T) {
	t.Parallel()
	c := newCluster(localcluster.ForTest(t, "n2d=1,n4=1"))
	c.install(t)
	c.apply(t, withN4("1.25"))
	t.Run("memory with a fraction of a byte does not keep a resize from ending", c.fractions)
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
