package safety

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

func notOwned(s Snapshot) string {
	owner := metav1.GetControllerOfNoCopy(s.Pod)
	switch {
	case owner == nil:
		return "the pod has no controller"
	case !slices.Contains(s.OwnerKinds, owner.Kind):
		return fmt.Sprintf("the pod's controller is a %s, not one of %s", owner.Kind, strings.Join(s.OwnerKinds, ", "))
	}
	return ""
}

func optedOut(s Snapshot) string {
	if s.Pod.Annotations[contract.Skip] != contract.SkipTrue {
		return ""
	}
	return fmt.Sprintf("the pod is annotated %s: %q", contract.Skip, contract.SkipTrue)
}

func paused(s Snapshot) string { return s.Paused }

func own(s Snapshot) string {
	if s.Pod.Labels[contract.AppLabel] != contract.AppName {
		return ""
	}
	return fmt.Sprintf("the pod is labelled %s: %s", contract.AppLabel, contract.AppName)
}

func activeVPA(s Snapshot) string {
	if s.VPA == "" {
		return ""
	}
	return fmt.Sprintf("VerticalPodAutoscaler %s sizes the pod's workload", s.VPA)
}
