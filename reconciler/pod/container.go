package pod

import (
	"unique"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Container is one of a pod's containers.
type Container struct {
	// Spec holds the requests and limits in the pod's spec.
	Spec sizing.Container
	// Original holds the requests and limits that the author wrote; unknown ones are 0.
	Original sizing.Container
	// Standings say what may be done with cpu and memory, by sizing.Measure.Index.
	Standings [2]Standing
	// Unannotated, TakesOver and Outdated have a bit (1 << contract.Original) for each
	// original. Unannotated: it must be written to the pod. TakesOver: another manager wrote
	// it, and the reconciler must become its owner. Outdated: it is recorded as adopted,
	// but that record no longer applies.
	Unannotated, TakesOver, Outdated uint8

	kind     kind
	facts    facts
	restarts int32
	name     unique.Handle[string]
	// runtime is the ID that the runtime gave the container, and before that of the container before
	// the last restart.
	runtime, before RuntimeID
	// status has the sizes that the kubelet reports; nil if they equal the spec or if it
	// reports none.
	status *status
	seldom *seldom
}

// kind is the kind of a container.
type kind uint8

const (
	regular kind = iota
	sidecar
	initial
)

// status holds the sizes in effect, and the sizes that the kubelet has allocated.
type status struct {
	running   sizing.Container
	allocated struct{ CPU, Memory int64 }
}

// says returns the status, even if it equals the spec.
func (c *Container) says() status {
	switch {
	case c.status != nil:
		return *c.status
	case c.facts&reported == 0:
		return status{}
	}
	s := status{running: c.Spec}
	if c.facts&setAside != 0 {
		s.allocated.CPU, s.allocated.Memory = c.Spec.CPU.Request, c.Spec.Memory.Request
	}
	return s
}

// facts are facts about a container, one bit each.
type facts uint16

const (
	annotated facts = 1 << iota
	resized
	cpuRestarts
	memoryRestarts
	runs
	reported
	setAside
	failed
	containerReady
	probed
	// requestFraction and limitFraction: the spec's memory is not a whole number of bytes.
	requestFraction
	limitFraction
	knowsLimit
)

// seldom holds what few containers have.
type seldom struct {
	// requests and limits are the complete lists, if they contain more than amounts of cpu
	// and memory above zero.
	requests, limits corev1.ResourceList
	// why and manager explain the Standing of cpu and memory.
	why, manager [2]string
	// ignored describes the annotations that contradict amounts as created.
	ignored []string
	// predecessors are the controllers that use the same annotations, resized the
	// container, and are not vouched for yet.
	predecessors []string
	// texts are the values of originals that another manager wrote. adopted are the values
	// of adopted amounts that do not count as adopted by the reconciler. Both are indexed
	// by contract.Original.
	texts, adopted [len(contract.Originals)]string
	// raised are the amounts that another controller raised, by contract.Original.
	raised [len(contract.Originals)]raised
	// raises and returned are the results of these methods.
	raises, returned uint8
}

var nothingSeldom seldom

func (c *Container) rarely() *seldom {
	if c.seldom == nil {
		return &nothingSeldom
	}
	return c.seldom
}

// alter returns what few containers have, for writing.
func (c *Container) alter() *seldom {
	if c.seldom == nil {
		c.seldom = &seldom{}
	}
	return c.seldom
}

// Name returns the name of the container.
func (c *Container) Name() string { return c.name.Value() }

// Sidecar reports whether the container is a restartable init container.
func (c *Container) Sidecar() bool { return c.kind == sidecar }

// Init reports whether the container is an init container, sidecars included.
func (c *Container) Init() bool { return c.kind != regular }

// Annotated reports whether the pod has an annotation with an original of the container.
func (c *Container) Annotated() bool { return c.facts&annotated != 0 }

// Resized reports whether we, or a controller that uses the same annotations, set any of
// the container's current amounts.
func (c *Container) Resized() bool { return c.facts&resized != 0 }

// Restarts reports whether a change to the resource restarts the container.
func (c *Container) Restarts(m *sizing.Measure) bool { return c.facts&(cpuRestarts<<m.Index) != 0 }

// Fractions reports whether the memory request and the memory limit in the spec are not whole numbers
// of bytes, such as 1.1Gi. Sizes hold them rounded up, as Kubernetes does.
func (c *Container) Fractions() (request, limit bool) {
	return c.facts&requestFraction != 0, c.facts&limitFraction != 0
}

// Running returns the sizes that the container runs with, and whether the kubelet reports
// them.
func (c *Container) Running() (sizing.Container, bool) {
	return c.says().running, c.facts&reported != 0
}

// Requests returns the complete list of requests if it, or the list of limits, contains
// more than amounts of cpu and memory above zero: other resources, or zeros. Otherwise it
// returns nil.
func (c *Container) Requests() corev1.ResourceList { return c.rarely().requests }

// Limits is like Requests, for limits.
func (c *Container) Limits() corev1.ResourceList { return c.rarely().limits }

// Ignored describes the annotations that are ignored because they contradict amounts as
// created.
func (c *Container) Ignored() []string { return c.rarely().ignored }

// Predecessors returns the controllers that use the same annotations, resized the
// container, and are not vouched for yet.
func (c *Container) Predecessors() []string { return c.rarely().predecessors }

// TextOf returns the value of the annotation with the original, if another manager wrote
// it.
func (c *Container) TextOf(which contract.Original) string { return c.rarely().texts[which] }

// AdoptedTextOf returns the value of the annotation that records an adopted amount, if it
// does not count as adopted by the reconciler.
func (c *Container) AdoptedTextOf(which contract.Original) string { return c.rarely().adopted[which] }

// InForce returns the sizes that the container runs with, or the sizes in the spec where
// the kubelet does not report them.
func (c *Container) InForce() sizing.Container {
	running := c.says().running
	return sizing.Container{CPU: known(c.Spec.CPU, running.CPU), Memory: known(c.Spec.Memory, running.Memory)}
}

// Allocated returns what the kubelet has allocated: allocated requests, and the limits in
// effect. Amounts that the kubelet does not report come from the spec.
func (c *Container) Allocated() sizing.Container {
	if c.facts&setAside == 0 {
		return c.InForce()
	}
	set, allocated := c.InForce(), c.says().allocated
	set.CPU.Request, set.Memory.Request = allocated.CPU, allocated.Memory
	return sizing.Container{CPU: known(c.Spec.CPU, set.CPU), Memory: known(c.Spec.Memory, set.Memory)}
}

// Reserves returns what the container takes of its node regardless of its spec: the requests
// in effect or the allocated requests, if these are larger. told is false if the kubelet
// does not report them.
func (c *Container) Reserves() (cpu, memory int64, told bool) {
	if c.facts&reported == 0 {
		return 0, 0, false
	}
	s := c.says()
	return max(s.running.CPU.Request, s.allocated.CPU), max(s.running.Memory.Request, s.allocated.Memory), true
}

// known returns set, with the values of spec where either lacks a request or limit: a
// resize can neither add nor remove requests or limits.
func known(spec, set sizing.Amount) sizing.Amount {
	if spec.Request == 0 || set.Request == 0 {
		set.Request = spec.Request
	}
	if spec.Limit == 0 || set.Limit == 0 {
		set.Limit = spec.Limit
	}
	return set
}
