package guard

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
)

// unready looks for a container that has not been ready for a long time, in a pod that was ready
// when it was resized, which excludes pods that were sized while they were being created. A pod that
// has not started completely is not judged, nor is one on a node that is lost; on a node that was
// lost, the time counts from its return. Kills for lack of memory are judged by killed.
func unready(c *Case, change *Change) finding {
	ready, since := c.Pod.Ready()
	if ready || c.Pod.SizedAtCreation() || !since.After(c.Pod.ResizedAt()) || c.Pod.Containers[change.Index].Ready() {
		return finding{}
	}
	if endedWell(c, change) {
		return finding{}
	}
	nodeReady, nodeSince := node.Readiness(c.Node)
	if lackedMemory(c, change.Index) || !nodeReady {
		return finding{}
	}
	from := since
	if nodeSince.After(from) {
		from = nodeSince
	}
	switch until := from.Add(c.Settings.Unready); {
	case !until.Before(Until(c.Pod, c.Settings.Window)):
		return finding{} // It is no longer observed by then.
	case c.Now.Before(until):
		return finding{again: until}
	}
	return finding{kind: contract.NotReady, evidence: fmt.Sprintf("not ready for more than %s, since %s after the resize", c.Settings.Unready, after(c.Pod, since))}
}

// endedWell reports whether the container ended without a failure since the resize, as when its author
// restarts it, or has ended now. Kubelets wait longer before each restart.
func endedWell(c *Case, change *Change) bool {
	container := &c.Pod.Containers[change.Index]
	restarted := change.Restarts >= 0 && container.RestartCount() > change.Restarts
	return (restarted || !container.Runs()) && !container.Failed()
}

// steadySince reports whether a node has been ready since a time.
func steadySince(of *corev1.Node, at time.Time) bool {
	ready, since := node.Readiness(of)
	return ready && !since.After(at)
}
