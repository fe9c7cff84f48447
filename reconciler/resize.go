package reconciler

import (
	"reflect"
	"slices"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
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
func ResizeOf(pod *corev1.Pod, workloads ...safety.Workload) *Resized {
	if !sized(pod) {
		return nil
	}
	h := historyOf(pod)
	r := &Resized{Pod: nameOf(pod), UID: pod.UID, Node: pod.Spec.NodeName, NodeType: lasting(pod.Annotations[contract.AppliedInstanceType])}
	if top := len(workloads) - 1; top >= 0 {
		r.Workload = safety.Workload{Kind: lasting(workloads[top].Kind), Name: lasting(workloads[top].Name)}
	}
	// What cannot be read is as good as not there.
	if at, err := time.Parse(time.RFC3339, pod.Annotations[contract.AppliedAt]); err == nil {
		r.Applied = at.UTC()
	}
	r.State, r.Message = resizeState(pod)
	from := newOriginals(pod.Annotations, &h)
	for i := range pod.Spec.Containers {
		r.add(&pod.Spec.Containers[i], i, pod.Status.ContainerStatuses, from, false)
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; safety.IsSidecar(c) {
			r.add(c, len(pod.Spec.Containers)+i, pod.Status.InitContainerStatuses, from, true)
		}
	}
	return r
}

// lasting is the text in memory of its own, which pods share: a cached pod's is part
// of a larger one, that would be kept for as long.
func lasting(text string) string { return unique.Make(text).Value() }

// sized reports whether the pod was ever sized, if only in part: then nothing was
// applied yet.
func sized(pod *corev1.Pod) bool {
	if _, ok := pod.Annotations[contract.AppliedInstanceType]; ok {
		return true
	}
	return slices.ContainsFunc(pod.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == contract.FieldManager && m.Subresource == resizeSubresource
	}) && marked(pod)
}

// resizeState tells how far the node is.
func resizeState(pod *corev1.Pod) (ResizeState, string) {
	said := says(pod)
	switch said.code {
	case contract.ResizeInProgress:
		return InProgress, said.message
	case contract.ResizeDeferred:
		return Deferred, said.message
	case contract.ResizeInfeasible:
		return Infeasible, said.message
	case contract.ResizeError:
		return Failed, said.message
	}
	if actuated(pod) {
		return Actuated, ""
	}
	return Pending, ""
}

func (r *Resized) add(c *corev1.Container, index int, statuses []corev1.ContainerStatus, from *originals, sidecar bool) {
	if !from.has(c.Name) {
		return
	}
	plan := ContainerPlan{Name: c.Name, Current: sizing.FromResources(c.Resources), index: index}
	from.fill(&plan)
	resized := ResizedContainer{Name: lasting(c.Name), Original: plan.Original, Spec: plan.Current, Sidecar: sidecar}
	if s := safety.StatusOf(c.Name, statuses); s != nil && s.Resources != nil {
		resized.Actual, resized.Told = sizing.FromResources(*s.Resources), true
	}
	r.Containers = append(r.Containers, resized)
}

// has tells whether the pod has an original of the container.
func (o *originals) has(container string) bool {
	for which := contract.CPURequest; which <= contract.MemoryLimit; which++ {
		if _, ok := which.In(o.annotations, container); ok {
			return true
		}
	}
	return false
}

// same tells whether two say the same; nil is a pod that was never sized.
func (r *Resized) same(other *Resized) bool { return reflect.DeepEqual(r, other) }
