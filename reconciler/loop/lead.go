package loop

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
func (l *Loop) Leads() bool { return l.Leader == nil || l.Leader.Leading() }

func (l *Loop) watchLeader() <-chan struct{} {
	if l.Leader == nil {
		return nil
	}
	return l.Leader.Watch()
}

// leaderChanged begins anew: what was done and said before another replica led
// tells nothing of what is to be done and said now.
func (l *Loop) leaderChanged() {
	l.pacer.clear()
	if !l.Leads() {
		return
	}
	l.ledger.beginAnew()
	for _, of := range l.Cluster.Pods(metav1.NamespaceAll).List() {
		l.queue.Add(of.NamespacedName())
	}
}

// permit returns a *StoppedError unless a write of the plan may begin now: this
// process leads, and the holds in force still ask for what the plan does.
func (l *Loop) permit(p *plan.Plan) error {
	if !l.Leads() {
		return &actuate.StoppedError{Because: "another replica may lead"}
	}
	holds, err := l.Holds.Ready()
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
