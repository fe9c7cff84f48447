package guard

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// restarted looks for more restarts of the container than before the resize. It ignores a
// container that ended last without a failure, as when its author restarts it, unless a probe may have
// failed, and a node that was lost meanwhile. Kills for lack of memory are judged by killed: they say nothing about cpu.
func restarted(c *Case, change *Change) finding {
	container := &c.Pod.Containers[change.Index]
	more := int(container.RestartCount() - change.Restarts)
	if change.Restarts < 0 || more < c.Settings.Restarts || !container.Failed() && !container.Probed() || !steadySince(c.Node, c.Pod.ResizedAt()) {
		return finding{}
	}
	if lackedMemory(c, change.Index) {
		return finding{}
	}
	evidence := fmt.Sprintf("restarted %d times since the resize (%d → %d)", more, change.Restarts, container.RestartCount())
	if !container.Failed() {
		return finding{kind: contract.Restarts, evidence: evidence + ", as when its liveness probe fails"}
	}
	return finding{kind: contract.Restarts, evidence: "failed and " + evidence}
}
