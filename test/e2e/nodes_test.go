package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// nodesConfig also sizes the memory of all pods.
const nodesConfig = `
podLabels:
  e2e:
    nodes: { nodeTypes: { n4: { cpuPerf: 1.25, memPerf: 1.25 }, c3: { cpuPerf: 1.25, memPerf: 1.25 } } }
`

var onNodes = map[string]string{"e2e": "nodes"}

// TestNodesThatRefuse has a node that refuses CPU resizes because of its static CPU
// manager, and a node with a kubelet that must not shrink memory limits.
func TestNodesThatRefuse(t *testing.T) {
	t.Parallel()
	c := newCluster(localcluster.ForTestWith(t, localcluster.Options{Nodes: "n2d=1,n4=1:cpu-manager=static,c3=1:kubelet=1.33.13"}))
	c.install(t)
	c.apply(t, withRules(nodesConfig))
	t.Run("one infeasible resize is enough for a node", c.staticCPUManager)
	t.Run("an older kubelet keeps memory limits", c.olderKubelet)
	t.Run("a pod is restored in part", c.partsRestored)
}

func (c *cluster) staticCPUManager(t *testing.T) {
	const namespace, note = "static", "workload-resizer.io/infeasible"
	s := c.serveReady(t)
	c.namespace(t, namespace)
	c.deploy(t, namespace, app{name: "first", nodeType: "n4", requests: [2]string{"100m", "128Mi"}, labels: onNodes})
	left := func(app string) []corev1.Pod {
		t.Helper()
		localcluster.Eventually(t, "the memory of "+app+" to be sized, and nothing else", func() error {
			for _, p := range c.of(t, namespace, app) {
				if got := texts(p.Spec.Containers[0].Resources); got != [4]string{"100m", "100m", "103Mi", "103Mi"} {
					return fmt.Errorf("pod %s has %v", p.Name, got)
				}
				plan, err := s.api.PreviewPod(t.Context(), namespace, p.Name)
				if err != nil {
					return err
				}
				if reasons := plan.GetReasons(); len(reasons) == 0 || reasons[0].GetCode() != "ResizeInfeasible" {
					return fmt.Errorf("the plan of pod %s is %v", p.Name, plan)
				}
			}
			return nil
		})
		c.awaitActuated(t, namespace)
		return c.of(t, namespace, app)
	}
	first := left("first")[0]
	if said := first.Annotations[note]; !strings.HasSuffix(said, `Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"`) {
		t.Errorf("annotation %s is %q", note, said)
	}
	wants(t, s.resizectl(t, 0, "explain", "-n", namespace, first.Name), "ResizeInfeasible", `CPU Manager policy "static"`)

	// No CPU resize is tried for other pods of the node, not even by another process.
	s = c.restart(t, s)
	c.deploy(t, namespace, app{name: "second", nodeType: "n4", replicas: 3, requests: [2]string{"100m", "128Mi"}, labels: onNodes})
	for _, p := range left("second") {
		if p.Generation != 2 || p.Annotations[note] != "" {
			t.Errorf("pod %s was resized %d times and has annotation %q", p.Name, p.Generation-1, p.Annotations[note])
		}
	}
	if again := c.one(t, namespace, "first"); again.Generation != first.Generation {
		t.Errorf("after a restart of the server, pod %s was resized %d times", again.Name, again.Generation-first.Generation)
	}
	// Pods that are not Guaranteed are resized as usual.
	c.deploy(t, namespace, app{name: "burstable", nodeType: "n4", requests: [2]string{"100m", "128Mi"}, limits: [2]string{"200m", "256Mi"}, labels: onNodes})
	c.awaitCPU(t, namespace, "burstable", "80m")
}

func (c *cluster) olderKubelet(t *testing.T) {
	const namespace = "older"
	s := c.serveReady(t)
	c.namespace(t, namespace)
	c.deploy(t, namespace, app{name: "web", nodeType: "c3", requests: [2]string{"100m", "128Mi"}, limits: [2]string{"200m", "256Mi"}, labels: onNodes})
	c.awaitCPU(t, namespace, "web", "80m")
	c.awaitSettled(t, s, namespace)
	p := c.one(t, namespace, "web")
	if got := texts(p.Spec.Containers[0].Resources); got != [4]string{"80m", "160m", "103Mi", "256Mi"} {
		t.Errorf("the pod has %v", got)
	}
	wants(t, s.resizectl(t, 0, "explain", "-n", namespace, p.Name), "MemoryLimitKept")
}

// partsRestored restores a pod whose memory another actor has set.
func (c *cluster) partsRestored(t *testing.T) {
	const namespace = "parts"
	s := c.serveReady(t)
	c.namespace(t, namespace)
	c.deploy(t, namespace, app{name: "web", nodeType: "c3", requests: [2]string{"100m", "128Mi"}, limits: [2]string{"200m", "256Mi"}, labels: onNodes})
	c.awaitCPU(t, namespace, "web", "80m")
	p := c.one(t, namespace, "web")
	patch := `{"spec": {"containers": [{"name": "app", "resources": {"requests": {"memory": "160Mi"}}}]}}`
	if code, out, errOut := run(t, "kubectl", "--kubeconfig", c.Kubeconfig, "-n", namespace, "patch", "pod", p.Name, "--subresource", "resize", "-p", patch); code != 0 {
		t.Fatalf("kubectl patch exits with %d: %s%s", code, out, errOut)
	}
	localcluster.Eventually(t, "the server to see the resize", func() error {
		if said := s.resizectl(t, 0, "plan", "-n", namespace, p.Name); !strings.Contains(said, "container app: memory stays as kubectl-patch set it") {
			return fmt.Errorf("it prints %s", said)
		}
		return nil
	})
	recorded := ours(c.one(t, namespace, "web").Annotations)

	said := s.resizectl(t, 1, "restore", "-n", namespace, p.Name)
	wants(t, said, "not restored: "+namespace+"/"+p.Name, "container app: memory stays as kubectl-patch set it")
	now := c.one(t, namespace, "web")
	if got := texts(now.Spec.Containers[0].Resources); got != [4]string{"100m", "200m", "160Mi", "256Mi"} {
		t.Errorf("the restored pod has %v", got)
	}
	if got := ours(now.Annotations); len(got) != len(recorded) || got["workload-resizer.io/original-memory.app"] != "128Mi" {
		t.Errorf("the restored pod has annotations %v, before %v", got, recorded)
	}
	s.resizectl(t, 0, "resume", "-n", namespace, p.Name)
	c.awaitCPU(t, namespace, "web", "80m")

	// The other actor reverts its change, and the pod is as its author wrote it.
	patch = strings.Replace(patch, "160Mi", "128Mi", 1)
	if code, out, errOut := run(t, "kubectl", "--kubeconfig", c.Kubeconfig, "-n", namespace, "patch", "pod", p.Name, "--subresource", "resize", "-p", patch); code != 0 {
		t.Fatalf("kubectl patch exits with %d: %s%s", code, out, errOut)
	}
	s.resizectl(t, 0, "restore", "-n", namespace, p.Name)
	now = c.one(t, namespace, "web")
	if got := texts(now.Spec.Containers[0].Resources); got != [4]string{"100m", "200m", "128Mi", "256Mi"} || ours(now.Annotations) != nil {
		t.Errorf("the completely restored pod has %v and %v", got, ours(now.Annotations))
	}
	wants(t, s.resizectl(t, 0, "explain", "-n", namespace, p.Name), "Done: ")
}

// labelNode labels a node until the test ends.
func (c *cluster) labelNode(t *testing.T, node, key, value string) {
	t.Helper()
	set := func(ctx context.Context, value string) error {
		patch := fmt.Appendf(nil, `{"metadata": {"labels": {%q: %s}}}`, key, value)
		_, err := c.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}
	if err := set(t.Context(), fmt.Sprintf("%q", value)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set(context.WithoutCancel(t.Context()), "null"); err != nil {
			t.Error(err)
		}
	})
}
