package e2e

import (
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// forgedOriginals has a user who may not resize pods try to size them through
// annotations. The installed guard rejects that. Without the guard, the bounds and the
// checks of the planner must hold.
func (c *cluster) forgedOriginals(t *testing.T) {
	const namespace = "forged"
	c.namespace(t, namespace)
	kubectl := c.meddler(t, namespace)
	forge := func(pod, cpu string) {
		t.Helper()
		if code, said := kubectl("annotate", "--overwrite", "pod", pod, "workload-resizer.io/original-cpu.app="+cpu); code != 0 {
			t.Fatalf("kubectl annotate exits with %d: %s", code, said)
		}
	}

	// Before the first resize, the spec counts, and an event reports it.
	c.deploy(t, namespace,
		app{name: "web", nodeType: "n4", requests: small},
		app{name: "control", nodeType: "n4", requests: small})
	web := c.one(t, namespace, "web")
	refused, because := kubectl("annotate", "pod", web.Name, "workload-resizer.io/original-cpu.app=7")
	if refused == 0 {
		t.Fatal("the guard allows forged annotations")
	}
	wants(t, because, "workload-resizer-annotation-guard", "only workload-resizer may change annotations")
	c.withoutGuard(t)
	localcluster.Eventually(t, "the guard to be gone", func() error {
		if code, said := kubectl("annotate", "pod", web.Name, "workload-resizer.io/original-cpu.app=7"); code != 0 {
			return errors.New(said)
		}
		return nil
	})
	code, said := kubectl("patch", "pod", web.Name, "--subresource", "resize", "-p", `{"spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "7"}}}]}}`)
	if code == 0 {
		t.Fatal("the meddler may resize pods")
	}
	wants(t, said, "Forbidden", "pods/resize")
	s := c.serveReady(t)
	c.awaitCPU(t, namespace, "web", "80m")
	c.awaitOriginal(t, namespace, "web", "100m")
	c.awaitEvent(t, namespace, web.UID, "AnnotationIgnored", `"7" contradicts the spec`)

	// After the first resize, the originals are no longer known, and the size stays.
	forge(web.Name, "7")
	c.awaitSkipped(t, s, web, "InvalidAnnotation", `it was written by "kubectl-annotate", which neither created nor resized the pod`)
	c.reconfigure(t, s, withN4("1.6"))
	c.awaitCPU(t, namespace, "control", "63m")
	c.checkCPU(t, namespace, "web", "80m")
	s = c.restart(t, s)
	c.scale(t, namespace, "control", 2)
	c.awaitCPU(t, namespace, "control", "63m")
	c.checkCPU(t, namespace, "web", "80m")
	wants(t, s.resizectl(t, 1, "restore", "-n", namespace, web.Name), fmt.Sprintf("not restored: %s/%s: InvalidAnnotation", namespace, web.Name))
	c.checkCPU(t, namespace, "web", "80m")
	s.resizectl(t, 0, "resume", "-n", namespace)
}

// meddler returns a function that runs kubectl as a user who may write the pods in a namespace
// but not resize them. The function returns the exit code and the output.
func (c *cluster) meddler(t *testing.T, namespace string) func(args ...string) (int, string) {
	t.Helper()
	kubeconfig, err := localcluster.MeddlerKubeconfig(t.Context(), c.Config(), namespace, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...string) (int, string) {
		t.Helper()
		code, out, errOut := run(t, "kubectl", append([]string{"--kubeconfig", kubeconfig, "-n", namespace}, args...)...)
		return code, out + errOut
	}
}

// withoutGuard lets all users who may patch pods change the server's annotations until
// the test ends.
func (c *cluster) withoutGuard(t *testing.T) {
	t.Helper()
	bindings := c.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	if err := bindings.Delete(t.Context(), "workload-resizer-annotation-guard", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.apply(t, deploy.AnnotationGuard()) })
}
