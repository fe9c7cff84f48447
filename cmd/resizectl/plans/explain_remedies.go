package plans

import (
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// remedySteps say what to do about each reason. They are the last steps.
func (f *facts) remedySteps(o *print.Output) []string {
	var steps []string
	for _, remedy := range f.GetRemedies() {
		steps = append(steps, "Remedy for "+print.OneLine(remedy.GetCode())+": "+o.Commands(print.Remedy(remedy.GetMessage(), nil))+".")
	}
	if f.plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE && !f.because(string(contract.WaitingForTurn)) {
		// The server retries writes that failed, and does not say so in the plan.
		steps = append(steps, o.Commands(print.Remedy("Remedy: if the pod is not resized within a minute, its events say why: `kubectl describe pod POD -n NAMESPACE`.",
			map[string]string{"POD": f.plan.GetPod(), "NAMESPACE": f.plan.GetNamespace()})))
	}
	if len(steps) == 0 {
		return []string{"Remedy: nothing needs to be done."}
	}
	return steps
}
