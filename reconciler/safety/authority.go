package safety

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

func notOwned(s Snapshot) string {
	switch controller := s.Pod.Controller(); {
	case !controller.Exists():
		return "the pod has no controller"
	case !Names(s.OwnerKinds, controller.GroupKind):
		return fmt.Sprintf("the pod's controller is a %s, not one of %s", KindName(controller.GroupKind), strings.Join(s.OwnerKinds, ", "))
	}
	return ""
}

func optedOut(s Snapshot) string {
	switch value := s.Pod.Annotations().Get(contract.Skip); value {
	case "", contract.SkipFalse:
		return ""
	case contract.SkipTrue:
		return fmt.Sprintf("the pod has the annotation %s: %q", contract.Skip, value)
	default:
		// Its author most likely meant to opt out, for example with "yes".
		return fmt.Sprintf("the pod has the annotation %s: %.32q, which is neither %q nor %q", contract.Skip, value, contract.SkipTrue, contract.SkipFalse)
	}
}

func frozen(s Snapshot) string { return s.Frozen }

func paused(s Snapshot) string { return s.Paused }

func own(s Snapshot) string {
	if s.Pod.Labels().Get(contract.AppLabel) != contract.AppName {
		return ""
	}
	return fmt.Sprintf("the pod has the label %s: %s", contract.AppLabel, contract.AppName)
}
