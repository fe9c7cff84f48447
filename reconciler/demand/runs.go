package demand

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/usage"
)

// run are the containers of a pod that ended with success, and what the pod was created from.
type run struct {
	version    uint64
	containers []string
}

// runOf returns the run of a pod. If the pod failed, or was deleted while it ran, as the pods of suspended Jobs are, it has none.
// A container that was restarted has failed before, or was
// killed: the status of a pod shows only the last end of each.
func runOf(p *pod.Pod) (of run) {
	if p.Phase() != corev1.PodSucceeded || p.CutShort() {
		return of
	}
	of.version = p.Template()
	for i := range p.Containers {
		c := &p.Containers[i]
		killed := slices.ContainsFunc(p.Kills(), func(k pod.Kill) bool { return k.Container == c.Name() })
		if c.RestartCount() == 0 && !killed {
			of.containers = append(of.containers, c.Name())
		}
	}
	return of
}

// countRun counts the run of a pod, if it has one.
func (d *Demands) countRun(p *pod.Pod) {
	if p.Phase() != corev1.PodSucceeded {
		return
	}
	if w, ok := d.workloadOf(p); ok && w.ByRuns() {
		of := runOf(p)
		d.count(w, string(p.UID), &of)
	}
}

// count counts a run. The store knows those that it has counted.
func (d *Demands) count(w usage.Workload, uid string, of *run) {
	for _, container := range of.containers {
		d.store.Ran(w, container, uid, of.version)
	}
}
