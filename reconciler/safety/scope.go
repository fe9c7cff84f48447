package safety

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Snapshot is the input of the checks of Scope.
type Snapshot struct {
	Pod *pod.Pod
	// OwnerKinds name the kinds of controllers whose pods are resized, as Names reads them.
	OwnerKinds []string
	// Frozen is the reason why the cluster is frozen; "" if it is not.
	Frozen string
	// Paused is the reason why resizing is paused for this pod; "" if it is not.
	Paused string
	// VPA is the VerticalPodAutoscaler for the pod's workload that may size it; nil if there is
	// none.
	VPA *VPA
}

// scope lists the checks that determine whether a pod can be resized at all, in order. Each
// returns its message, or "" if it does not veto a resize.
var scope = [...]struct {
	reason    contract.Reason
	objection func(Snapshot) string
}{
	{contract.NotScheduled, notScheduled},
	{contract.StaticPod, static},
	{contract.NotOwned, notOwned},
	{contract.Terminating, terminating},
	{contract.Finished, finished},
	{contract.OptedOut, optedOut},
	{contract.Frozen, frozen},
	{contract.Paused, paused},
	{contract.NotRunning, notRunning},
	{contract.OwnPod, own},
	{contract.WindowsPod, windows},
	{contract.NoRequests, noRequests},
	{contract.ResizeUnsupported, resizeUnsupported},
	{contract.PodLevelResources, podLevelResources},
	{contract.ResourceClaims, resourceClaims},
	{contract.ActiveVPA, activeVPA},
}

// ScopeReasons returns the reasons of Scope, in the order of its checks.
func ScopeReasons() (all []contract.Reason) {
	for i := range scope {
		all = append(all, scope[i].reason)
	}
	return all
}

// Scope returns the first veto against a resize of the pod to any size, except for some reasons; nil if there is none.
func Scope(s Snapshot, except ...contract.Reason) *Veto {
	for i := range scope {
		if slices.Contains(except, scope[i].reason) {
			continue
		}
		if message := scope[i].objection(s); message != "" {
			return &Veto{scope[i].reason, message}
		}
	}
	return nil
}
