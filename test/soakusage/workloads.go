package main

import (
	"fmt"
	"strings"
)

const (
	namespace = "soak"
	container = "main"
)

// workload is a controller of two pods with one container each.
type workload struct {
	kind, name, nodeType string
	// work is what a container does. It is steady, so that only a fault moves a recommendation.
	work string
}

// The workloads that are rolled out again, and deleted and created again.
const (
	rolled = "rolled"
	gone   = "gone"
)

var workloads = []workload{
	{"Deployment", "steady", "n2d", "{cpu: 300m, memory: 128Mi}"},
	{"Deployment", "fast", "n4", "{cpu: 200m, memory: 96Mi}"},
	{"StatefulSet", "state", "n4", "{cpu: 150m, memory: 200Mi}"},
	{"Deployment", "noisy", "n2d", "{cpu: [{constant: 420m}, {noise: 5, step: 5s}], memory: 150Mi}"},
	{"Deployment", rolled, "n2d", "{cpu: 250m, memory: 64Mi}"},
	{"Deployment", gone, "n2d", "{cpu: 350m, memory: 80Mi}"},
}

// configuration has the ratios.
const configuration = `apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: n2d
    nodeTypes:
      n2d: {cpuPerf: 1, memPerf: 1}
      n4: {cpuPerf: 1.25, memPerf: 1}
---
apiVersion: v1
kind: Namespace
metadata: {name: ` + namespace + `}
`

// manifest returns the manifest of the controller.
func (w *workload) manifest() string {
	service := ""
	if w.kind == "StatefulSet" {
		service = "  serviceName: none\n"
	}
	return fmt.Sprintf(`apiVersion: apps/v1
kind: %[1]s
metadata: {name: %[2]s, namespace: %[3]s}
spec:
  replicas: 2
%[4]s  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}, annotations: {work.testcluster.local/%[5]s: '%[6]s'}}
    spec:
      nodeSelector: {cloud.google.com/machine-family: %[7]s}
      containers: [{name: %[5]s, image: none, resources: {requests: {cpu: 500m, memory: 256Mi}}}]
`, w.kind, w.name, namespace, service, container, w.work, w.nodeType)
}

// manifests returns those of all workloads.
func manifests() []byte {
	all := make([]string, len(workloads))
	for i := range workloads {
		all[i] = workloads[i].manifest()
	}
	return []byte(strings.Join(all, "---\n"))
}
