package e2e

import (
	"fmt"
	"testing"
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
