package e2e

import (
	"fmt"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// meddler may patch pods, but not resize them.
const meddler = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: meddler, namespace: forged }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: meddler, namespace: forged }
rules:
  - { apiGroups: [""], resources: [pods], verbs: [get, patch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: meddler, namespace: forged }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: meddler }
subjects:
  - { kind: ServiceAccount, name: meddler, namespace: forged }
`

// forgedOriginals has somebody who may not resize pods try to size them by the
// annotations.
func (c *cluster) forgedOriginals(t *testing.T) {
	const namespace = "forged"
	c.namespace(t, namespace)
	c.apply(t, []byte(meddler))
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(t.Context(), c.Config(), namespace, "meddler", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	kubectl := func(args ...string) (int, string) {
		t.Helper()
		code, out, errOut := run(t, "kubectl", append([]string{"--kubeconfig", kubeconfig, "-n", namespace}, args...)...)
		return code, out + errOut
	}
	forge := func(pod, cpu string) {
		t.Helper()
		if code, said := kubectl("annotate", "--overwrite", "pod", pod, "workload-resizer.io/original-cpu.app="+cpu); code != 0 {
			t.Fatalf("kubectl annotate exits with %d: %s", code, said)
		}
	}

	// Before the first resize the spec counts, and that is told.
	c.deploy(t, namespace,
		app{name: "web", nodeType: "n4", requests: small},
		app{name: "beside", nodeType: "n4", requests: small})
	web := c.one(t, namespace, "web")
	forge(web.Name, "7")
	code, said := kubectl("patch", "pod", web.Name, "--subresource", "resize", "-p", `{"spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "7"}}}]}}`)
	if code == 0 {
		t.Fatal("the meddler may resize pods")
	}
	wants(t, said, "Forbidden", "pods/resize")
	s := c.serveReady(t)
	c.awaitCPU(t, namespace, "web", "80m")
	c.awaitOriginal(t, namespace, "web", "100m")
	c.awaitEvent(t, namespace, web.UID, "AnnotationIgnored", `"7" contradicts the spec`)

	// After it, the originals are not known any more, and the size stays.
	forge(web.Name, "7")
	c.awaitLeftAlone(t, s, web, "InvalidAnnotation", `an original was written by "kubectl-annotate", who neither created nor resized the pod`)
	c.reconfigure(t, s, withN4("1.6"))
	c.awaitCPU(t, namespace, "beside", "63m")
	c.checkCPU(t, namespace, "web", "80m")
	s = c.restart(t, s)
	c.scale(t, namespace, "beside", 2)
	c.awaitCPU(t, namespace, "beside", "63m")
	c.checkCPU(t, namespace, "web", "80m")
	wants(t, s.resizectl(t, 1, "restore", "-n", namespace, web.Name), fmt.Sprintf("not restored: %s/%s: InvalidAnnotation", namespace, web.Name))
	c.checkCPU(t, namespace, "web", "80m")
	s.resizectl(t, 0, "resume", "-n", namespace)
}
