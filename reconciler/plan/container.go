package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// ContainerPlan is what becomes of one container.
type ContainerPlan struct {
	Name                       string
	Original, Current, Desired sizing.Container
	// Needs are what cpu and memory need on the baseline, and Causes why they change, by sizing.Measure.Index.
	Needs  [2]need.Need
	Causes [2]Cause
	// Sidecar means that the container is a restartable init container.
	Sidecar bool
	// Unmeasured means that the size of a resource would follow usage, but what it needs is not known, by
	// sizing.Measure.Index.
	Unmeasured [2]bool
	// kept is what a resource needed according to usage when it got the size that it keeps while the pod runs, by
	// sizing.Measure.Index; 0 for all others.
	kept [2]int64
	// memory is how much memory it has now; zero if its sizes do not follow usage.
	memory need.Memory
	// index is its index in the pod, containers before init containers.
	index int32
}

// rescued reports whether the plan raises the memory limit of a container that may be about to be killed.
func (c *ContainerPlan) rescued() bool {
	return c.Needs[sizing.Memory.Index].Recommended != nil && c.Desired.Memory.Limit > c.Current.Memory.Limit &&
		need.Endangered(c.memory.Used, c.Current.Memory.Limit)
}

// Cause is why a resource of a container changes.
type Cause uint8

const (
	// Unchanged: it has its desired size already, or keeps its size for now.
	Unchanged Cause = iota
	// NotOurs: it may not be changed, because another actor set it or its original is unknown.
	NotOurs
	// ByRatio: what its author wrote is scaled for the node. ByDemand: what it needs according to usage is.
	ByRatio
	ByDemand
	// ByBoost: its cpu is boosted because the container starts, or no longer is.
	ByBoost
	// ByAdoption: the size that another actor set is what an original scales to.
	ByAdoption
	// ByRevert: it made the pod worse. ByCompletion: there was no room for its request when its limit was
	// reverted. ByNudge: it changes for a moment, so that the node notices an earlier revert.
	ByRevert
	ByCompletion
	ByNudge
	// ByNode: the node refuses the size in the spec, so that it is reverted.
	ByNode
	// ByRestore: it gets its original again.
	ByRestore
)

// Derived is a size that a stage led to, and why.
type Derived struct {
	// Container is the index in Plan.Containers.
	Container int
	Measure   *sizing.Measure
	// To is the size after the stage.
	To sizing.Amount
	// Stage is the name of the stage.
	Stage string
	Cause Cause
	// Clamped means that a bound determined the request.
	Clamped bool
	// Why says more, for some causes: why a resize is reverted, who set the size that is adopted or overridden, or until when
	// cpu is boosted.
	// Harm is how the resize made the pod worse; nil for other causes.
	Why  string
	Harm *contract.Harm
}

func original(c *ContainerPlan) *sizing.Container { return &c.Original }
func current(c *ContainerPlan) *sizing.Container  { return &c.Current }
func desired(c *ContainerPlan) *sizing.Container  { return &c.Desired }

// sizes returns the sizes of all containers of the pod before and after the plan; from returns
// the size of a container before it.
func (p *Plan) sizes(of *pod.Pod, from func(*ContainerPlan) *sizing.Container) (before, after safety.Sizes) {
	n := len(of.Containers)
	all := make(safety.Sizes, 2*n)
	before, after = all[:n:n], all[n:]
	for i := range of.Containers {
		before[i] = of.Containers[i].Spec
	}
	copy(after, before)
	for i := range p.Containers {
		c := &p.Containers[i]
		before[c.index], after[c.index] = *from(c), c.Desired
	}
	return before, after
}

// Requests returns what the pod requests once it has the sizes of the plan.
func (p *Plan) Requests(of *pod.Pod) node.Resources {
	_, after := p.sizes(of, current)
	return node.RequestsWith(of, after, false)
}

// classAfter returns the QoS class of the pod after the plan.
func (p *Plan) classAfter(of *pod.Pod) corev1.PodQOSClass {
	_, after := p.sizes(of, current)
	return sizing.QOSClass(after)
}

// container returns the index of a container; -1 if it cannot be resized.
func (p *Plan) container(name string) int {
	return slices.IndexFunc(p.Containers, func(c ContainerPlan) bool { return c.Name == name })
}
