package e2e

import "testing"

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
