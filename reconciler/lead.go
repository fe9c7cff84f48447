package reconciler

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Every replica watches the cluster and plans, so that all of them know how pods
// stand. Only the leader writes to pods and says what becomes of them.

// Leads tells whether this process is the one that writes.
func (r *Reconciler) Leads() bool { return r.Leader == nil || r.Leader.Leading() }

func (r *Reconciler) watchLeader() <-chan struct{} {
	if r.Leader == nil {
		return nil
	}
	return r.Leader.Watch()
}

// leaderChanged begins anew: what was done and said before another replica led
// tells nothing of what is to be done and said now.
func (r *Reconciler) leaderChanged() {
	r.pacer.clear()
	if !r.Leads() {
		return
	}
	r.ledger.beginAnew()
	r.enqueueAll(r.pods.Pods(metav1.NamespaceAll).List())
}

// permit returns a *StoppedError unless a write of the plan may begin now: this
// process leads, and the holds in force still ask for what the plan does.
func (r *Reconciler) permit(p *plan.Plan) error {
	if !r.Leads() {
		return &actuate.StoppedError{Because: "another replica may lead"}
	}
	holds, err := r.Holds.Ready()
	if err != nil {
		return &actuate.StoppedError{Because: "holds are not known"}
	}
	var asked hold.Kind
	if p.Kind == plan.Restore {
		asked = hold.Restore
	}
	h, _ := holds.Of(p.Pod.Namespace, p.Pod.Name, p.UID, p.Workloads...)
	switch h.Kind {
	case asked:
		return nil
	case "":
		return &actuate.StoppedError{Because: "its restore has ended"}
	}
	return &actuate.StoppedError{Because: fmt.Sprintf("there is a %s of %s", h.Kind, h.Scope)}
}
