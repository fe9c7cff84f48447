package query

import (
	"reflect"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// ResizeState is the state of a pod's sizes on its node.
type ResizeState int

const (
	// Actuated: the containers run with the sizes in the spec, as far as the kubelet reports.
	Actuated ResizeState = iota
	// Pending: the kubelet has not seen the spec yet.
	Pending
	// InProgress: the kubelet is resizing the containers.
	InProgress
	// Deferred: the node has no room now; the kubelet retries.
	Deferred
	// Infeasible: the node can never satisfy the sizes.
	Infeasible
	// Failed: the kubelet failed to resize a container, or the API server did not accept the last
	// resize.
	Failed
)

// Resized describes the resize of one pod. It depends only on the pod and its workloads, so
// every replica that knows them returns the same. It must not be modified.
type Resized struct {
	Pod types.NamespacedName
	UID types.UID
	// Workload is the topmost known workload of the pod; zero if there is none.
	Workload workload.Workload
	Node     string
	// NodeType is the node type that the pod was sized for.
	NodeType string
	// Applied is when the pod was sized, in UTC; zero if the pod does not record it.
	Applied time.Time
	State   ResizeState
	// Message is what the kubelet or the API server says about the state.
	Message string
	// Containers are the containers with an original, in the order of the pod's spec:
	// its containers, then its sidecars.
	Containers []ResizedContainer
	// Labels are the labels of the pod.
	Labels pod.Texts
}

// ResizedContainer has the original, desired and actual size of one container.
type ResizedContainer struct {
	Name string
	// Original has zeros for originals that cannot be known.
	Original, Spec sizing.Container
	// Actual is the size that the kubelet reports; zero if it reports none, and then
	// Told is false.
	Actual  sizing.Container
	Told    bool
	Sidecar bool
	// Demanded is what its cpu and memory needed according to usage, by sizing.Measure.Index; 0 for a resource that was
	// sized by its original.
	Demanded [2]int64
}

// ResizeOf returns the resize of a pod with these workloads, the narrowest first; nil if
// the pod was never sized.
func ResizeOf(of *pod.Pod, workloads ...workload.Workload) *Resized {
	if !of.Sized() {
		return nil
	}
	nodeType, _ := of.Applied()
	r := &Resized{Pod: of.NamespacedName(), UID: of.UID, Node: of.Node(), NodeType: nodeType, Applied: of.AppliedAt(), Labels: of.Labels().Kept()}
	if top := len(workloads) - 1; top >= 0 {
		// The names may share memory with the pod's texts, which must not be kept as long.
		r.Workload = workload.Workload{Kind: unique.Make(workloads[top].Kind).Value(), Name: unique.Make(workloads[top].Name).Value()}
	}
	r.State, r.Message = resizeState(of)
	demanded := of.AppliedDemand()
	for i := range of.Containers {
		c := &of.Containers[i]
		if !c.Annotated() || c.Init() && !c.Sidecar() {
			continue
		}
		resized := ResizedContainer{Name: c.Name(), Original: c.Original, Spec: c.Spec, Sidecar: c.Sidecar(), Demanded: demanded.Of(c.Name()).Amounts}
		resized.Actual, resized.Told = c.Running()
		r.Containers = append(r.Containers, resized)
	}
	return r
}

// resizeState returns the state of a pod's sizes, and the message of the kubelet or the API server.
func resizeState(of *pod.Pod) (ResizeState, string) {
	if said := plan.Says(of); said != nil {
		return states[said.Code], said.Message
	}
	if failed := plan.FailureOf(of); failed != nil {
		return Failed, failed.Reason.Message
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

// same reports whether two resizes are equal; nil is a pod that was never sized.
func (r *Resized) same(other *Resized) bool { return reflect.DeepEqual(r, other) }
