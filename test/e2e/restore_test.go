package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// restoreRule also sizes the memory of the journey's pods.
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

// restore restores a namespace to its originals, keeps it there, and resizes it again in
// the end.
func (c *cluster) restore(t *testing.T) {
	const shop, control = "restore", "restore-control"
	c.configure(t, withRules(fmt.Sprintf(restoreRule, "1.25")))
	s := c.serveReady(t)
	c.namespace(t, shop)
	c.namespace(t, control)
	c.deploy(t, shop, web, api)
	c.deploy(t, control, web)
	c.awaitSized(t, s, shop, "80m")
	c.awaitCPU(t, control, "web", "80m")

	// A dry run shows the restore and writes nothing.
	before := byName(c.pods(t, shop))
	wants(t, s.resizectl(t, 1, "restore", "-n", shop, "--dry-run"), "80m → 100m", "3 to resize")
	wants(t, s.resizectl(t, 0, "holds"), "nothing is restored, paused or degraded")
	for name, p := range byName(c.pods(t, shop)) {
		if written(p) != written(before[name]) {
			t.Errorf("a dry run wrote pod %s", name)
		}
	}

	// One pod, and no others.
	single := c.of(t, shop, "web")[0]
	wants(t, s.resizectl(t, 0, "restore", "-n", shop, single.Name, "--reason", "too slow"), "Restored")
	for _, p := range c.of(t, shop, "web") {
		if p.Name == single.Name {
			checkRestored(t, &p, web)
		} else if err := hasCPU(&p, "80m"); err != nil {
			t.Error(err)
		}
	}
	c.awaitEvent(t, shop, single.UID, "Restored", "the pod has its originals again: app: cpu 80m → 100m")

	// The namespace.
	wants(t, s.resizectl(t, 0, "restore", "-n", shop, "--reason", "leaving"), "0 to resize")
	c.checkAllRestored(t, shop)
	wants(t, s.resizectl(t, 0, "holds"), single.Name, "too slow", "leaving", "restore")

	// The restore survives a restart and a change to the ratio, and applies to new pods.
	s = c.restart(t, s)
	c.reconfigure(t, s, withRules(fmt.Sprintf(restoreRule, "2.0")))
	c.awaitCPU(t, control, "web", "50m")
	c.scale(t, shop, "web", 3)
	c.scale(t, control, "web", 3)
	c.awaitCPU(t, control, "web", "50m")
	c.checkAllRestored(t, shop)
	wants(t, s.resizectl(t, 0, "plan", "-n", shop), "Restored", "4 skipped")

	// Resuming the namespace ends the restore. With --nested, it also ends the restore of
	// the pod.
	wants(t, s.resizectl(t, 0, "resume", "-n", shop, "--nested"), "restore of namespace restore has ended", single.Name)
	c.awaitSized(t, s, shop, "50m")
}

// awaitSized waits until web and api have their sizes. The size of api is always the
// same.
func (c *cluster) awaitSized(t *testing.T, s *server, namespace, web string) {
	t.Helper()
	c.awaitCPU(t, namespace, "web", web)
	c.awaitCPU(t, namespace, "api", "154m")
	c.awaitSettled(t, s, namespace)
	c.awaitActuated(t, namespace)
}

// checkAllRestored checks that all pods of web and api are restored, and so are their
// containers on the nodes.
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

// checkRestored checks that a pod has its originals and no trace of the server.
func checkRestored(t *testing.T, p *corev1.Pod, author app) {
	t.Helper()
	want := author.deployment().Spec.Template.Spec.Containers[0].Resources
	if texts(p.Spec.Containers[0].Resources) != texts(want) {
		t.Errorf("pod %s has %v, its originals are %v", p.Name, texts(p.Spec.Containers[0].Resources), texts(want))
	}
	if got := ours(p.Annotations); got != nil {
		t.Errorf("pod %s has annotations %v", p.Name, got)
	}
	for _, m := range p.ManagedFields {
		if strings.Contains(m.Manager, "workload-resizer") {
			t.Errorf("pod %s has managed fields of %s, which wrote %q at %s", p.Name, m.Manager, m.Subresource, m.Time)
		}
	}
}

// written returns everything that actors except the kubelet have written to a pod.
func written(p *corev1.Pod) string {
	text := fmt.Sprint(p.UID, p.Generation, p.Annotations)
	for _, m := range p.ManagedFields {
		if m.Subresource != "status" {
			text += fmt.Sprint(m.Manager, m.Subresource, m.Time)
		}
	}
	return text
}

// restoreEverything restores the whole cluster, as before workload-resizer is
// uninstalled.
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
		// Pods of an earlier journey may be on their way out: they need no restore.
		if got := ours(p.Annotations); got != nil && p.DeletionTimestamp == nil {
			t.Errorf("pod %s/%s has %v", p.Namespace, p.Name, got)
		}
	}

	s = c.serveReady(t)
	c.checkAllRestored(t, shop)
	s.resizectl(t, 0, "resume", "-A", "--yes")
	c.awaitSized(t, s, shop, "80m")
	localcluster.Eventually(t, "no hold to be left", func() error {
		if said := s.resizectl(t, 0, "holds"); !strings.Contains(said, "nothing is restored, paused or degraded") {
			return fmt.Errorf("there are still: %s", said)
		}
		return nil
	})
}

// killedWhileRestoring kills the server in the middle of the restore of a namespace. The
// next server completes the restore, and knows whether it is an emergency.
func (c *cluster) killedWhileRestoring(t *testing.T) {
	for _, tc := range []struct {
		n         int64
		action    localcluster.Action
		emergency bool
	}{
		{2, localcluster.CutBefore, false},       // At most one pod has its sizes.
		{3, localcluster.CutBefore, true},        // The same, but all workers write.
		{4, localcluster.ForwardThenHang, false}, // Some pods are done, some half done.
	} {
		t.Run(fmt.Sprintf("write %d, %s", tc.n, tc.action), func(t *testing.T) { c.killedInRestore(t, tc.n, tc.action, tc.emergency) })
	}
}

func (c *cluster) killedInRestore(t *testing.T, n int64, action localcluster.Action, emergency bool) {
	namespace := fmt.Sprintf("restore-killed-%d", n)
	var restoring atomic.Bool
	var writes atomic.Int64
	reached := make(chan struct{})
	proxy := localcluster.ProxyForTest(t, c.Config(), func(w localcluster.Write) localcluster.Action {
		if w.Namespace != namespace || !restoring.Load() {
			return localcluster.Forward
		}
		switch write := writes.Add(1); {
		case write < n:
			return localcluster.Forward
		case write == n:
			close(reached)
		}
		return action // No write gets through after that.
	})
	s := c.serve(t, c.serviceAccount(t, localcluster.WithServer(proxy.URL, proxy.CA)))
	awaitReadyz(t, s, http.StatusOK, "ok")
	c.namespace(t, namespace)
	c.deploy(t, namespace, web, api)
	c.awaitSized(t, s, namespace, "80m")

	restoring.Store(true)
	s.resizectl(t, 0, "restore", "-n", namespace, "--wait=false", fmt.Sprintf("--emergency=%t", emergency))
	select {
	case <-reached:
	case <-time.After(localcluster.Patience):
		t.Fatalf("write %d was not sent, %d were", n, writes.Load())
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, p := range c.pods(t, namespace) {
		if ours(p.Annotations) != nil {
			left++
		}
	}
	if left == 0 {
		t.Fatal("all pods were restored before the kill")
	}

	again := c.serveReady(t)
	if wants(t, again.resizectl(t, 0, "holds"), namespace); emergency {
		wants(t, again.resizectl(t, 0, "holds"), "emergency restore")
	}
	localcluster.Eventually(t, "the restore to be completed", func() error {
		for _, p := range c.pods(t, namespace) {
			if got := ours(p.Annotations); got != nil {
				return fmt.Errorf("pod %s has %v", p.Name, got)
			}
		}
		return nil
	})
	c.checkAllRestored(t, namespace)
	again.resizectl(t, 0, "resume", "-n", namespace)
}

// pause keeps the pods in a namespace at their sizes, regardless of the ratios.
func (c *cluster) pause(t *testing.T) {
	const quiet, control = "pause", "pause-control"
	s := c.serveReady(t)
	c.namespace(t, quiet)
	c.namespace(t, control)
	some := app{name: "web", nodeType: "n4", replicas: 2, requests: small}
	c.deploy(t, quiet, some)
	c.deploy(t, control, some)
	c.awaitCPU(t, quiet, "web", "80m")
	c.awaitCPU(t, control, "web", "80m")

	wants(t, s.resizectl(t, 0, "pause", "-n", quiet, "--reason", "load test"), "namespace pause is paused")
	c.reconfigure(t, s, withN4("1.6"))
	c.awaitCPU(t, control, "web", "63m")
	c.checkCPU(t, quiet, "web", "80m")
	pod := c.of(t, quiet, "web")[0].Name
	wants(t, s.resizectl(t, 0, "plan", "-n", quiet, pod), "is skipped: Paused: ", "namespace pause", "load test")
	wants(t, s.resizectl(t, 0, "plan", "-n", quiet), "2 skipped")

	// Users see what the end of the pause would do before they end it.
	wants(t, s.resizectl(t, 1, "plan", "-n", quiet, pod, "--what-if-resumed"), "80m → 63m")
	wants(t, s.resizectl(t, 0, "explain", "-n", quiet, pod), "Without holds: the pod would be resized: app cpu 80m → 63m", " resume -n pause")
	wants(t, s.resizectl(t, 0, "resume", "-n", quiet, "--dry-run"), "pause of namespace pause would end", "2 pods: 2 to resize", "freed")
	c.checkCPU(t, quiet, "web", "80m")

	// The pause survives a restart, and applies to new pods.
	s = c.restart(t, s)
	c.scale(t, quiet, "web", 3)
	c.scale(t, control, "web", 3)
	c.awaitCPU(t, control, "web", "63m")
	wants(t, s.resizectl(t, 0, "plan", "-n", quiet), "3 skipped")
	for _, p := range c.of(t, quiet, "web") {
		want := "80m"
		if ours(p.Annotations) == nil {
			want = "100m" // The new pod.
		}
		if err := hasCPU(&p, want); err != nil {
			t.Error(err)
		}
	}

	// A freeze outranks it, and restores; the pause applies again when it ends.
	wants(t, s.resizectl(t, 0, "freeze", "--yes", "--reason", "outage"), "the cluster is frozen since", "outage")
	wants(t, s.resizectl(t, 0, "status"), "frozen:", "outage")
	wants(t, s.resizectl(t, 0, "plan", "-n", quiet, pod), "is skipped: Frozen: ", "outage")
	wants(t, s.resizectl(t, 1, "restore", "-n", quiet, "--dry-run"), "Frozen")
	wants(t, s.resizectl(t, 0, "unfreeze", "--yes"), "has ended")
	wants(t, s.resizectl(t, 0, "plan", "-n", quiet, pod), "is skipped: Paused: ")

	wants(t, s.resizectl(t, 0, "resume", "-n", quiet), "pause of namespace pause has ended")
	c.awaitCPU(t, quiet, "web", "63m")
}
