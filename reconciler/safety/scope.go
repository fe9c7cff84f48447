package safety

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Snapshot is what the vetoes look at.
type Snapshot struct {
	Pod *corev1.Pod
	// OwnerKinds are the kinds of controllers whose pods are resized.
	OwnerKinds []string
}

// Veto says why a pod must be left alone.
type Veto struct {
	Reason  contract.Reason
	Message string
}

// check is one veto; it returns the particulars, or "" where it has nothing
// against a resize.
type check struct {
	reason    contract.Reason
	objection func(Snapshot) string
}

// scope lists the checks of what pods are resized at all, in their order.
var scope = [...]check{
	{contract.NotScheduled, notScheduled},
	{contract.StaticPod, static},
	{contract.NotOwned, notOwned},
	{contract.OptedOut, optedOut},
	{contract.Terminating, terminating},
	{contract.Finished, finished},
	{contract.NotRunning, notRunning},
	{contract.OwnPod, own},
	{contract.NoRequests, noRequests},
}

// Scope returns the first veto against a pod that depends on nothing but the
// pod; nil if there is none.
func Scope(s Snapshot) *Veto {
	for _, c := range &scope {
		if message := c.objection(s); message != "" {
			return &Veto{c.reason, message}
		}
	}
	return nil
}

func notScheduled(s Snapshot) string {
	if s.Pod.Spec.NodeName != "" {
		return ""
	}
	return "the pod has no node yet"
}

func static(s Snapshot) string {
	if source := s.Pod.Annotations[corev1.MirrorPodAnnotationKey]; source == "" {
		return ""
	}
	return "the pod is the mirror of a static pod, which only its kubelet can change"
}

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

func terminating(s Snapshot) string {
	if s.Pod.DeletionTimestamp == nil {
		return ""
	}
	return "the pod is being deleted"
}

func finished(s Snapshot) string {
	switch s.Pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed:
		return fmt.Sprintf("the pod's phase is %s", s.Pod.Status.Phase)
	}
	return ""
}

func notRunning(s Snapshot) string {
	if s.Pod.Status.Phase == corev1.PodRunning {
		return ""
	}
	return fmt.Sprintf("the pod's phase is %q, not Running", s.Pod.Status.Phase)
}

func own(s Snapshot) string {
	if s.Pod.Labels[contract.AppLabel] != contract.AppName {
		return ""
	}
	return fmt.Sprintf("the pod is labelled %s: %s", contract.AppLabel, contract.AppName)
}

func noRequests(s Snapshot) string {
	for i := range s.Pod.Spec.Containers {
		requests := s.Pod.Spec.Containers[i].Resources.Requests
		if !requests.Cpu().IsZero() || !requests.Memory().IsZero() {
			return ""
		}
	}
	return "no container requests cpu or memory"
}
