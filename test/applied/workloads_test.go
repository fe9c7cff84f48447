package applied

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// shape is a kind of workload: what its containers do, and what their author wrote.
type shape struct {
	name string
	// work is what the container app does.
	work string
	// resources are what its author wrote.
	resources string
	// more are further containers, and extra is what else the pod's spec has.
	more string
	// job means that a Job runs the pods, instead of a Deployment.
	job bool
	// unsized means that the pods have no requests, so that nothing sizes them.
	unsized bool
	// cpu and memory are what the container uses, in cores and MiB; 0 if that varies.
	cpu, memory float64
}

// shapes are run in turn.
var shapes = []shape{
	{name: "guaranteed", work: "{cpu: 300m, memory: 300Mi}", resources: "{requests: {cpu: '1', memory: 1Gi}, limits: {cpu: '1', memory: 1Gi}}", cpu: 0.3},
	{name: "burstable", work: "{cpu: 400m, memory: 120Mi}", resources: "{requests: {cpu: '1', memory: 512Mi}, limits: {cpu: '2', memory: 1Gi}}", cpu: 0.4, memory: 120},
	{name: "small", work: "{cpu: 350m, memory: 150Mi}", resources: "{requests: {cpu: 100m, memory: 48Mi}, limits: {cpu: '2', memory: 1Gi}}", cpu: 0.35, memory: 150},
	{name: "unlimited", work: "{cpu: 200m, memory: 80Mi}", resources: "{requests: {cpu: 500m, memory: 256Mi}}", cpu: 0.2, memory: 80},
	{name: "best-effort", work: "{cpu: 50m, memory: 30Mi}", resources: "{}", unsized: true},
	{name: "pair", work: "{cpu: 250m, memory: 90Mi}", resources: "{requests: {cpu: 500m, memory: 256Mi}}", more: ", {name: proxy, image: none, resources: " + proxy + "}", cpu: 0.25, memory: 90},
	{name: "noisy", work: "{cpu: [{constant: 300m}, {noise: 20, step: 10s}], memory: 100Mi}", resources: "{requests: {cpu: '1', memory: 256Mi}}"},
	{name: "leaking", work: "{cpu: 100m, memory: [{constant: 60Mi}, {leak: 1Mi, every: 20s, upTo: 60Mi}]}", resources: "{requests: {cpu: 300m, memory: 256Mi}, limits: {memory: 1Gi}}"},
	{name: "batch", work: "{cpu: 300m, memory: 100Mi}", resources: "{requests: {cpu: '1', memory: 256Mi}}", job: true},
}

// workload runs pods of a shape.
type workload struct {
	shape
	name string
	// moves means that it is rolled out on nodes of a different type, where it never ran before.
	moves bool
}

// workloadsOf returns this many workloads of all shapes in turn. Half of them move.
func workloadsOf(n int) (all []workload) {
	for i := range n {
		s := shapes[i%len(shapes)]
		all = append(all, workload{shape: s, name: fmt.Sprintf("%s-%d", s.name, i), moves: !s.job && i%2 == 0})
	}
	return all
}

// manifest returns the manifest of the workload, on nodes of a type.
func (w *workload) manifest(replicas int, nodeType string) string {
	template := fmt.Sprintf(`  template:
    metadata: {labels: {app: %[1]s, app.kubernetes.io/name: %[1]s}, annotations: {work.testcluster.local/app: '%[2]s', node-type: %[3]s}}
    spec:
      nodeSelector: {cloud.google.com/machine-family: %[3]s}
      %[4]s
      containers: [{name: app, image: none, resources: %[5]s}%[6]s]
`, w.name, w.work, nodeType, map[bool]string{true: "restartPolicy: Never"}[w.job], w.resources, w.more)
	if w.job {
		return fmt.Sprintf("apiVersion: batch/v1\nkind: Job\nmetadata: {name: %s, namespace: %s}\nspec:\n  parallelism: %d\n", w.name, namespace, replicas) + template
	}
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %[1]s, namespace: %[2]s}\nspec:\n  replicas: %[3]d\n  selector: {matchLabels: {app: %[1]s}}\n", w.name, namespace, replicas) + template
}

// authored returns what the author wrote for a container.
func (w *workload) authored(container string) (wrote corev1.ResourceRequirements, err error) {
	text := w.resources
	if container != "app" {
		text = proxy
	}
	return wrote, yaml.Unmarshal([]byte(text), &wrote)
}

// proxy is what the author of a second container wrote.
const proxy = "{requests: {cpu: 10m, memory: 16Mi}}"

const namespace = "shop"

// config returns a configuration with the mode. Usage counts immediately: a test has no day to wait.
func config(mode string) string {
	return strings.ReplaceAll(`apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: n2d
    nodeTypes:
      n2d: {cpuPerf: 1, memPerf: 1}
      n4: {cpuPerf: 1.25, memPerf: 1}
    demand: {from: usage, mode: MODE, minHistory: 0s, minCoverage: 0}
    guard: {window: 30s, unready: 20s}
    pace: {resizesPerSecond: 50, freedPerHour: 100%}
---
apiVersion: v1
kind: Namespace
metadata: {name: `+namespace+`}
`, "MODE", mode)
}
