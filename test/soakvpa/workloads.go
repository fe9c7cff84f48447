package main

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// namespace has the workloads, and a VPA for each of them.
const namespace = "soak"

// workload is a Deployment with one container.
type workload struct {
	name     string
	replicas int
	// work is what the container does, and memory its request and its limit, or "".
	work, memory string
}

// workloads use CPU and memory in different ways. The last ones are killed now and then.
var workloads = []workload{
	{"steady", 2, "{cpu: 300m, memory: 128Mi}", ""},
	{"waves", 3, "{cpu: [{constant: 200m}, {wave: 600m, period: 5m}, {noise: 20, step: 10s}], memory: [{constant: 100Mi}, {wave: 200Mi, period: 7m}]}", ""},
	{"spikes", 1, "{cpu: [{constant: 50m}, {spike: 800m, at: 1m, for: 20s, every: 3m}], memory: [{constant: 64Mi}, {spike: 300Mi, at: 90s, for: 15s, every: 4m}, {noise: 10, step: 10s}]}", ""},
	{"leaks", 2, "{cpu: 100m, memory: [{constant: 100Mi}, {leak: 20Mi, every: 10s}]}", "400Mi"},
	{"bursts", 1, "{cpu: [{constant: 100m}, {noise: 60, step: 10s}], memory: [{constant: 150Mi}, {spike: 200Mi, at: 2m, for: 10s, every: 3m}]}", "300Mi"},
}

// vpas is the resource of VPAs.
var vpas = schema.GroupVersionResource{Group: "autoscaling.k8s.io", Version: "v1", Resource: "verticalpodautoscalers"}

// checkpoints is the resource of the VPA's checkpoints.
var checkpoints = schema.GroupVersionResource{Group: "autoscaling.k8s.io", Version: "v1", Resource: "verticalpodautoscalercheckpoints"}

// manifests returns the namespace and the VPAs, and then the Deployments.
func manifests() (before, deployments []byte) {
	objects := []string{fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", namespace)}
	for _, w := range workloads {
		objects = append(objects, fmt.Sprintf(`apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: %[1]s}
  updatePolicy: {updateMode: "Off"}
`, w.name, namespace))
	}
	before = []byte(strings.Join(objects, "---\n"))
	objects = nil
	for _, w := range workloads {
		resources := "{}"
		if w.memory != "" {
			resources = fmt.Sprintf("{requests: {memory: %[1]s}, limits: {memory: %[1]s}}", w.memory)
		}
		objects = append(objects, fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}, annotations: {work.testcluster.local/main: '%[4]s'}}
    spec: {containers: [{name: main, image: none, resources: %[5]s}]}
`, w.name, namespace, w.replicas, w.work, resources))
	}
	return before, []byte(strings.Join(objects, "---\n"))
}
