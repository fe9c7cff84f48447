package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// rules has one rule for each pod below. The pods run on n4 nodes, one of which has the
// compute class Performance.
const rules = `
overrides:
  - name: critical
    match:
      computeClass: Performance
      podLabel: { example.com/env: production }
      podAnnotation: { example.com/tier: gold }
    baselineNodeType: c3
  - name: batch
    match: { podLabel: { example.com/kind: batch } }
    bounds: { cpu: { max: 70m } }
podAnnotations:
  example.com/written-for:
    n4: { baselineNodeType: n4 }
podLabels:
  example.com/name:
    encoder: { nodeTypes: { n4: { cpuPerf: %s, memPerf: 1.0 } } }
computeClasses:
  Performance: { bounds: { cpu: { min: 90m } } }
`

// ruled are the pods, the rule of each, and their CPU requests before and after the
// encoder's rule changes.
var ruled = []struct {
	app             app
	rule, cpu, then string
}{
	{app{name: "critical", labels: map[string]string{"example.com/env": "production"}, annotations: map[string]string{"example.com/tier": "gold"}, selector: performance}, "overrides[0] (critical)", "104m", "104m"},
	{app{name: "nearly-critical", labels: map[string]string{"example.com/env": "production"}, selector: performance}, "computeClasses.Performance", "90m", "90m"},
	{app{name: "batch", labels: map[string]string{"example.com/kind": "batch", "example.com/name": "encoder"}}, "overrides[1] (batch)", "70m", "70m"},
	{app{name: "written-for", annotations: map[string]string{"example.com/written-for": "n4"}}, `podAnnotations["example.com/written-for"].n4`, "100m", "100m"},
	{app{name: "encoder", labels: map[string]string{"example.com/name": "encoder"}}, `podLabels["example.com/name"].encoder`, "63m", "50m"},
	{app{name: "plain"}, "", "80m", "80m"},
}

var performance = map[string]string{"cloud.google.com/compute-class": "Performance"}

// ruledPods expects each pod to be sized by the first rule that matches it. After a rule
// changes, only the pods of that rule are written.
func (c *cluster) ruledPods(t *testing.T) {
	const namespace = "rules"
	c.labelNode(t, "n4-0", "cloud.google.com/compute-class", "Performance")
	c.configure(t, withRules(fmt.Sprintf(rules, "1.6")))
	s := c.serveReady(t)
	c.namespace(t, namespace)
	var apps []app
	for _, r := range ruled {
		r.app.nodeType, r.app.requests = "n4", small
		apps = append(apps, r.app)
	}
	c.deploy(t, namespace, apps...)
	for _, r := range ruled {
		c.awaitCPU(t, namespace, r.app.name, r.cpu)
		var plan struct{ Rule, Decision string }
		decode(t, s.resizectl(t, 0, "plan", "-n", namespace, "-o", "json", c.one(t, namespace, r.app.name).Name), &plan)
		if plan.Rule != r.rule || plan.Decision != "DECISION_ALIGNED" {
			t.Errorf("%s has the rule %q, want %q: %s", r.app.name, plan.Rule, r.rule, plan.Decision)
		}
	}

	before := byName(c.pods(t, namespace))
	c.reconfigure(t, s, withRules(fmt.Sprintf(rules, "2.0")))
	for _, r := range ruled {
		c.awaitCPU(t, namespace, r.app.name, r.then)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	for _, r := range ruled {
		p := c.one(t, namespace, r.app.name)
		if changed := written(p) != written(before[p.Name]); changed != (r.cpu != r.then) {
			t.Errorf("pod %s was written: %t", p.Name, changed)
		}
	}
}

// boosts gives pods three times the cpu until they have been ready for two seconds.
const boosts = `
podLabels:
  example.com/runtime:
    java: { startup: { cpu: 3x, afterReady: 2s } }
`

// TestStartup boosts the cpu of a pod while it starts. It is ready when its readiness gate says so.
func TestStartup(t *testing.T) {
	t.Parallel()
	const namespace, started = "boosted", "example.com/started"
	c := newCluster(localcluster.ForTest(t, "n4=1"))
	c.install(t)
	c.apply(t, withRules(boosts))
	const named = "--tls-dns-names=localhost," + serverName // The certificate is kept when the server below starts.
	s := c.serveReady(t, named)
	c.namespace(t, namespace)
	deployed := func(name string) *corev1.Pod {
		t.Helper()
		d := app{name: name, nodeType: "n4", requests: small, labels: map[string]string{"example.com/runtime": "java"}}.deployment()
		d.Spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: started}}
		c.create(t, namespace, d)
		return c.one(t, namespace, name)
	}
	gate := func(p *corev1.Pod, status corev1.ConditionStatus) {
		t.Helper()
		patch := fmt.Appendf(nil, `{"status":{"conditions":[{"type":%q,"status":%q}]}}`, started, status)
		if _, err := c.client.CoreV1().Pods(namespace).Patch(t.Context(), p.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}

	p := deployed("web")
	c.awaitCPU(t, namespace, "web", "240m")
	c.awaitEvent(t, namespace, p.UID, "Resized", "app: cpu is boosted until its pod has started")
	gate(p, corev1.ConditionTrue)
	c.awaitCPU(t, namespace, "web", "80m")
	c.awaitEvent(t, namespace, p.UID, "Resized", "app: cpu is no longer boosted")

	// A server that knows nothing else of it does not boost it again when it becomes unready.
	gate(p, corev1.ConditionFalse)
	localcluster.Eventually(t, "the pod to be unready", func() error {
		p = c.one(t, namespace, "web")
		for _, condition := range p.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionFalse {
				return nil
			}
		}
		return fmt.Errorf("it has %v", p.Status.Conditions)
	})
	s = c.restart(t, s, named)
	c.awaitSettled(t, s, namespace)
	if p = c.one(t, namespace, "web"); hasCPU(p, "80m") != nil || p.Generation != 3 {
		t.Errorf("it was resized %d times: %v", p.Generation-1, hasCPU(p, "80m"))
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	c.apply(t, []byte(createdNamespace))
	c.serveCreating(t, c.webhook(t))
	p = deployed("born")
	if err := hasCPU(p, "240m"); err != nil {
		t.Error(err)
	}
	unresized(t, p)
	gate(p, corev1.ConditionTrue)
	c.awaitCPU(t, namespace, "born", "80m")
}
