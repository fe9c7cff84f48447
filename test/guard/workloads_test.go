package guard

import "fmt"

// The size of all pods, requests and limits, as created and as lowered.
const (
	cpu, memory               = "100m", "100Mi"
	loweredCPU, loweredMemory = "80m", "80Mi"
)

// calm is work that does not notice a resize.
const calm = "{cpu: 10m, memory: 16Mi}"

// workload is a Deployment.
type workload struct {
	name, nodeType, memory, work string
	// memoryLimit is the limit if it is not the request.
	memoryLimit string
	replicas    int
	// skipped pods are not resized until the annotation is removed.
	skipped bool
}

// manifest returns the manifest of a workload, after that of its namespace.
func (w *workload) manifest(namespace string) string {
	nodeType, size, skip := w.nodeType, w.memory, "false"
	if nodeType == "" {
		nodeType = "n4"
	}
	if size == "" {
		size = memory
	}
	limit := w.memoryLimit
	if limit == "" {
		limit = size
	}
	if w.skipped {
		skip = "true"
	}
	return fmt.Sprintf(`
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata:
      labels: {app: %[2]s}
      annotations: {work.testcluster.local/app: '%[4]s', workload-resizer.io/skip: '%[5]s'}
    spec:
      nodeSelector: {cloud.google.com/machine-family: %[6]s}
      terminationGracePeriodSeconds: 1
      containers:
      - name: app
        image: none
        resources: {requests: {cpu: %[7]s, memory: %[8]s}, limits: {cpu: %[7]s, memory: %[9]s}}
`, namespace, w.name, w.replicas, w.work, skip, nodeType, cpu, size, limit)
}
