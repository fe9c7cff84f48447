package query

import (
	"reflect"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// ResizeState is how far a node is with the sizes of a pod.
type ResizeState int

const (
	// Actuated: the containers run with what the spec says.
	Actuated ResizeState = iota
	// Pending: the kubelet has not looked at the spec yet.
	Pending
	// InProgress: the kubelet is at it.
	InProgress
	// Deferred: the node has no room now; the kubelet tries again.
	Deferred
	// Infeasible: the node can never give this.
	Infeasible
	// Failed: the kubelet failed at it.
	Failed
)

// Resized is what was done to one pod, as the pod itself and what made it tell, so that
// all who see them say the same. Nobody changes it.
type Resized struct {
	Pod types.NamespacedName
	UID types.UID
	// Workload made the pod: the topmost of those that are known; zero if nothing did.
	Workload safety.Workload
	Node     string
	// NodeType is the one that the pod was sized for.
	NodeType string
	// Applied is when it was sized, in UTC; zero if the pod does not say.
	Applied time.Time
	State   ResizeState
	// Message is what the kubelet says of it.
	Message string
	// Containers are those with an original, in the order of the pod's spec:
	// its containers, then its sidecars.
	Containers []ResizedContainer
}

// ResizedContainer is what one container was asked for, was given, and runs with.
type ResizedContainer struct {
	Name string
	// Original has zeros where the original cannot be known.
	Original, Spec sizing.Container
	// Actual is what the kubelet says; zero if it says nothing (Told).
	Actual  sizing.Container
	Told    bool
	Sidecar bool
}

// ResizeOf tells what was done to a pod, which these workloads made, the narrowest first;
// nil if it was never sized.
func ResizeOf(of *pod.Pod, workloads ...safety.Workload) *Resized {
	if !of.Sized() {
		return nil
	}
	nodeType, _ := of.Applied()
	r := &Resized{Pod: of.NamespacedName(), UID: of.UID, Node: of.Node(), NodeType: nodeType, Applied: of.AppliedAt()}
	if top := len(workloads) - 1; top >= 0 {
		// The names may be part of the pod's texts, which are not to be kept for as long.
		r.Workload = safety.Workload{Kind: unique.Make(workloads[top].Kind).Value(), Name: unique.Make(workloads[top].Name).Value()}
	}
	r.State, r.Message = resizeState(of)
	for i := range of.Containers {
		c := &of.Containers[i]
		if !c.Recorded() || c.Init() && !c.Sidecar() {
			continue
		}
		resized := ResizedContainer{Name: c.Name(), Original: c.Original, Spec: c.Spec, Sidecar: c.Sidecar()}
		resized.Actual, resized.Told = c.Running()
		r.Containers = append(r.Containers, resized)
	}
	return r
}

// resizeState tells how far the node is.
func resizeState(of *pod.Pod) (ResizeState, string) {
	if said := plan.Says(of); said != nil {
		return states[said.Code], said.Message
	}
	if of.Actuated() {
		return Actuated, ""
	}
	return Pending, ""
}

var states = map[contract.Reason]ResizeState{
	contract.ResizeInProgress: InProgress, contract.ResizeDeferred: Deferred,
	contract.ResizeInfeasible: Infeasible, contract.ResizeError: Failed,
}

// same tells whether two say the same; nil is a pod that was never sized.
func (r *Resized) same(other *Resized) bool { return reflect.DeepEqual(r, other) }
