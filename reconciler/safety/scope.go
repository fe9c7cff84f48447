package safety

import (
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Snapshot is what the vetoes of Scope look at.
type Snapshot struct {
	Pod *pod.Pod
	// OwnerKinds are the kinds of controllers whose pods are resized.
	OwnerKinds []string
	// Paused says why resizing is paused for this pod; "" if it is not.
	Paused string
	// VPA names the active VerticalPodAutoscaler on the pod's workload; "" if
	// there is none.
	VPA string
}

// scope lists the checks of what pods are resized at all, in their order. Each
// returns the particulars, or "" where it has nothing against a resize.
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

// Scope returns the first veto against any resize of the pod, whatever its
// sizes; nil if there is none.
func Scope(s Snapshot) *Veto {
	for i := range scope {
		if message := scope[i].objection(s); message != "" {
			return &Veto{scope[i].reason, message}
		}
	}
	return nil
}
