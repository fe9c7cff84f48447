package plans

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// remedySteps say what to do about each reason. They are the last steps.
func (f *facts) remedySteps(o *print.Output) []string {
	var steps []string
	for _, code := range f.codes() {
		if remedy := f.remedy(o, code); remedy != "" && remedy != "nothing" {
			steps = append(steps, "Remedy for "+print.OneLine(code)+": "+remedy+".")
		}
	}
	if f.plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE && !f.because(string(contract.WaitingForTurn)) {
		// The server retries writes that failed, and does not say so in the plan.
		steps = append(steps, o.Commands(print.Remedy("Remedy: if the pod is not resized within a minute, its events say why: `kubectl describe pod POD -n NAMESPACE`.", f.names())))
	}
	if len(steps) == 0 {
		return []string{"Remedy: nothing needs to be done."}
	}
	return steps
}

// codes returns the reasons of the plan, and that of a source whose current state is not in effect.
func (f *facts) codes() []string {
	var codes []string
	for _, reason := range f.plan.GetReasons() {
		codes = append(codes, reason.GetCode())
	}
	if slices.ContainsFunc(f.sources, func(s *workloadresizerv1.RatioSource) bool { return !s.GetHealthy() }) {
		codes = append(codes, string(contract.InvalidConfig))
	}
	return codes
}

// remedy returns what to do about a reason for this pod; empty if this program does not know the
// reason.
func (f *facts) remedy(o *print.Output, code string) string {
	info, _ := contract.Reason(code).Info()
	return o.Commands(print.Remedy(info.Remedy, f.names()))
}

// names returns what the placeholders of remedies stand for.
func (f *facts) names() map[string]string {
	return map[string]string{
		"POD": f.plan.GetPod(), "NAMESPACE": f.plan.GetNamespace(), "NODE": f.plan.GetNode(), "TYPE": f.plan.GetNodeType(), "SCOPE": f.heldScope(),
	}
}

// heldScope returns the arguments of "resizectl resume" that end the hold in effect: a restore
// takes precedence over a pause, that over a breaker, and then the narrowest. It is empty if no hold is known.
func (f *facts) heldScope() string {
	var arguments string
	narrowest := 0
	for _, hold := range f.holds {
		these, level := scopeArguments(hold.GetScope())
		switch hold.GetKind() {
		case workloadresizerv1.HoldKind_HOLD_KIND_RESTORE:
			level += 20
		case workloadresizerv1.HoldKind_HOLD_KIND_PAUSE:
			level += 10
		}
		if level > narrowest {
			arguments, narrowest = these, level
		}
	}
	return arguments
}

// scopeArguments returns the arguments that name a scope, and how narrow it is, from 1.
func scopeArguments(scope *workloadresizerv1.HoldScope) (arguments string, level int) {
	namespace := print.ScopeNamespace(scope)
	switch {
	case scope.GetPod() != nil:
		return scope.GetPod().GetName() + " -n " + namespace, 4
	case scope.GetWorkload() != nil:
		return print.WorkloadName(scope.GetWorkload()) + " -n " + namespace, 3
	case namespace != "":
		return "-n " + namespace, 2
	}
	return "-A", 1
}
