package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// restoreRule lets the memory of the journey's pods be sized too.
const restoreRule = `
podLabels:
  e2e:
    restore: { nodeTypes: { n4: { cpuPerf: %s, memPerf: 1.25 } } }
`

var (
	restored = map[string]string{"e2e": "restore"}
	web      = app{name: "web", nodeType: "n4", replicas: 2, requests: [2]string{"100m", "128Mi"}, labels: restored}
	api      = app{name: "api", nodeType: "c3", requests: [2]string{"200m", "128Mi"}, limits: [2]string{"400m", "256Mi"}, labels: restored}
)

// restore takes a namespace back to what its authors asked for, keeps it so, and
// has it sized again in the end.
func (c *cluster) restore(t *testing.T) {
	const shop, beside = "restore", "restore-beside"
	c.configure(t, withRules(fmt.Sprintf(restoreRule, "1.25")))
	s := c.serveReady(t)
	c.namespace(t, shop)
	c.namespace(t, beside)
	c.deploy(t, shop, web, api)
	c.deploy(t, beside, web)
	c.awaitSized(t, s, shop, "80m")
	c.awaitCPU(t, beside, "web", "80m")

	// A dry run shows it and writes nothing.
	before := byName(c.pods(t, shop))
	wants(t, s.resizectl(t, 1, "restore", "-n", shop, "--dry-run"), "80m → 100m", "3 to resize")
	wants(t, s.resizectl(t, 0, "holds"), "nothing is restored or paused")
	for name, p := range byName(c.pods(t, shop)) {
		if written(p) != written(before[name]) {
			t.Errorf("a dry run wrote pod %s", name)
		}
	}

	// One pod, and no other.
	single := c.of(t, shop, "web")[0]
	wants(t, s.resizectl(t, 0, "restore", "-n", shop, single.Name, "--reason", "too slow"), "Restored")
	for _, p := range c.of(t, shop, "web") {
		if p.Name == single.Name {
			checkRestored(t, &p, web)
		} else if err := hasCPU(&p, "80m"); err != nil {
			t.Error(err)
		}
	}
	c.awaitEvent(t, shop, single.UID, "Restored", "what its author asked for: app: cpu 80m → 100m")

	// The namespace.
	wants(t, s.resizectl(t, 0, "restore", "-n", shop, "--reason", "leaving"), "0 to resize")
	c.checkAllRestored(t, shop)
	wants(t, s.resizectl(t, 0, "holds"), single.Name, "too slow", "leaving", "restore")

	// It stays so over a restart and another ratio, and for pods that come.
	s = c.restart(t, s)
	c.reconfigure(t, s, withRules(fmt.Sprintf(restoreRule, "2.0")))
	c.awaitCPU(t, beside, "web", "50m")
	c.scale(t, shop, "web", 3)
	c.scale(t, beside, "web", 3)
	c.awaitCPU(t, beside, "web", "50m")
	c.checkAllRestored(t, shop)
	wants(t, s.resizectl(t, 0, "plan", "-n", shop), "Restored", "4 left alone")

	// Until it is resumed, which ends what was said of the pod too.
	wants(t, s.resizectl(t, 0, "resume", "-n", shop, "--nested"), "restore of namespace restore has ended", single.Name)
	c.awaitSized(t, s, shop, "50m")
}

// awaitSized waits until web and api have their sizes; that of api is always the
// same.
func (c *cluster) awaitSized(t *testing.T, s *server, namespace, web string) {
	t.Helper()
	c.awaitCPU(t, namespace, "web", web)
	c.awaitCPU(t, namespace, "api", "154m")
	c.awaitSettled(t, s, namespace)
	c.awaitActuated(t, namespace)
}

// checkAllRestored checks that all pods of web and api are, on their nodes too.
func (c *cluster) checkAllRestored(t *testing.T, namespace string) {
	t.Helper()
	c.awaitActuated(t, namespace)
	for _, app := range []app{web, api} {
		pods := c.of(t, namespace, app.name)
		if len(pods) == 0 {
			t.Errorf("%s has no pods", app.name)
		}
		for i := range pods {
			checkRestored(t, &pods[i], app)
		}
	}
}

// checkRestored checks that a pod asks for what its author asked for, and that
// nothing on it tells of us.
func checkRestored(t *testing.T, p *corev1.Pod, author app) {
	t.Helper()
	want := author.deployment().Spec.Template.Spec.Containers[0].Resources
	if texts(p.Spec.Containers[0].Resources) != texts(want) {
		t.Errorf("pod %s asks for %v, its author for %v", p.Name, texts(p.Spec.Containers[0].Resources), texts(want))
	}
	if got := ours(p.Annotations); got != nil {
		t.Errorf("pod %s has annotations %v", p.Name, got)
	}
	for _, m := range p.ManagedFields {
		if strings.Contains(m.Manager, "workload-resizer") {
			t.Errorf("pod %s tells of %s, which wrote %q at %s", p.Name, m.Manager, m.Subresource, m.Time)
		}
	}
}

// written is all that anybody but its node has written to a pod.
func written(p *corev1.Pod) string {
	text := fmt.Sprint(p.UID, p.Generation, p.Annotations)
	for _, m := range p.ManagedFields {
		if m.Subresource != "status" {
			text += fmt.Sprint(m.Manager, m.Subresource, m.Time)
		}
	}
	return text
}

// restoreEverything takes the whole cluster back, as one does before
// workload-resizer is taken out of it.
func (c *cluster) restoreEverything(t *testing.T) {
	const shop = "restore-all"
	s := c.serveReady(t)
	c.namespace(t, shop)
	c.deploy(t, shop, web, api)
	c.awaitSized(t, s, shop, "80m")
	wants(t, s.resizectl(t, 2, "restore", "-A"), "--yes")
	c.checkCPU(t, shop, "web", "80m")

	wants(t, s.resizectl(t, 0, "restore", "-A", "--yes", "--timeout", "2m"), "0 to resize")
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	c.checkAllRestored(t, shop)
	for _, p := range c.pods(t, "") {
		if got := ours(p.Annotations); got != nil {
			t.Errorf("pod %s/%s has %v", p.Namespace, p.Name, got)
		}
	}

	s = c.serveReady(t)
	c.checkAllRestored(t, shop)
	s.resizectl(t, 0, "resume", "-A", "--yes")
	c.awaitSized(t, s, shop, "80m")
	localcluster.Eventually(t, "no hold to be left", func() error {
		if said := s.resizectl(t, 0, "holds"); !strings.Contains(said, "nothing is restored or paused") {
			return fmt.Errorf("there are: %s", said)
		}
		return nil
	})
}
