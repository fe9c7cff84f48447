package pod

import (
	"unique"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Container is one of a pod's containers.
type Container struct {
	// Spec is what it asks for.
	Spec sizing.Container
	// Original is what its author asked for, as far as that is known; what is not is 0.
	Original sizing.Container
	// Standings are what may be done with cpu and memory, by sizing.Measure.Index.
	Standings [2]Standing
	// Unrecorded has a bit (1 << contract.Original) for each original that is to be
	// written to the pod, TakesOver for each that another wrote and that is to be the
	// reconciler's, Outdated for each that is recorded as adopted and has changed since.
	Unrecorded, TakesOver, Outdated uint8

	kind  kind
	facts facts
	name  unique.Handle[string]
	// status is what the kubelet says, where that is not what the spec asks for.
	status *status
	seldom *seldom
}

// kind is what a container is for.
type kind uint8

const (
	regular kind = iota
	sidecar
	initial
)

// status are the sizes that are in force, and those that the kubelet has set aside.
type status struct {
	running   sizing.Container
	allocated struct{ CPU, Memory int64 }
}

// says is the status also where that is what the spec asks for.
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

// facts take a bit each.
type facts uint8

const (
	recorded facts = 1 << iota
	resized
	cpuRestarts
	memoryRestarts
	runs
	reported
	setAside
)

// seldom is what few containers have.
type seldom struct {
	// requests and limits are the whole lists, where there is more in them than amounts
	// of cpu and memory above zero.
	requests, limits corev1.ResourceList
	// why and manager are those of Standing, for cpu and memory.
	why, manager [2]string
	// ignored are the annotations that contradict what is as created.
	ignored []string
	// predecessors are controllers that keep the same annotations, resized the container,
	// and are not vouched for yet.
	predecessors []string
	// texts are those of the originals that another wrote, adopted those of what is
	// recorded as adopted and not known to be the reconciler's, by contract.Original.
	texts, adopted [len(contract.Originals)]string
}

var nothingSeldom seldom

func (c *Container) rarely() *seldom {
	if c.seldom == nil {
		return &nothingSeldom
	}
	return c.seldom
}

// alter returns what few have, to be written to.
func (c *Container) alter() *seldom {
	if c.seldom == nil {
		c.seldom = &seldom{}
	}
	return c.seldom
}

// Name is the container's.
func (c *Container) Name() string { return c.name.Value() }

// Sidecar reports whether it is a restartable init container.
func (c *Container) Sidecar() bool { return c.kind == sidecar }

// Init reports whether it is an init container, sidecars included.
func (c *Container) Init() bool { return c.kind != regular }

// Recorded reports whether the pod has an original of it.
func (c *Container) Recorded() bool { return c.facts&recorded != 0 }

// Resized reports whether we, or a controller that keeps the same annotations, set any
// amount that it has.
func (c *Container) Resized() bool { return c.facts&resized != 0 }

// Restarts reports whether another amount of a resource restarts it.
func (c *Container) Restarts(m *sizing.Measure) bool { return c.facts&(cpuRestarts<<m.Index) != 0 }

// Running returns the sizes that it runs with, and whether the kubelet tells.
func (c *Container) Running() (sizing.Container, bool) {
	return c.says().running, c.facts&reported != 0
}

// Requests is the whole list where it or that of limits has more than amounts of cpu and
// memory above zero, else nil: other resources, or zeros.
func (c *Container) Requests() corev1.ResourceList { return c.rarely().requests }

// Limits is as Requests is.
func (c *Container) Limits() corev1.ResourceList { return c.rarely().limits }

// Ignored says which annotations contradict what is as created, and do not count.
func (c *Container) Ignored() []string { return c.rarely().ignored }

// Predecessors are controllers that keep the same annotations, resized the container, and
// are not vouched for yet.
func (c *Container) Predecessors() []string { return c.rarely().predecessors }

// TextOf is what the annotation says whose original another wrote.
func (c *Container) TextOf(which contract.Original) string { return c.rarely().texts[which] }

// AdoptedTextOf is what the annotation says that records what another set as adopted, and
// that is not known to be the reconciler's.
func (c *Container) AdoptedTextOf(which contract.Original) string { return c.rarely().adopted[which] }

// InForce is what the container runs with, as far as the kubelet says so, or else what it
// asks for.
func (c *Container) InForce() sizing.Container {
	running := c.says().running
	return sizing.Container{CPU: known(c.Spec.CPU, running.CPU), Memory: known(c.Spec.Memory, running.Memory)}
}

// Allocated is what the kubelet has set aside: requests as allocated, limits as they are
// in force. What it does not tell is as the container asks for it.
func (c *Container) Allocated() sizing.Container {
	if c.facts&setAside == 0 {
		return c.InForce()
	}
	set, allocated := c.InForce(), c.says().allocated
	set.CPU.Request, set.Memory.Request = allocated.CPU, allocated.Memory
	return sizing.Container{CPU: known(c.Spec.CPU, set.CPU), Memory: known(c.Spec.Memory, set.Memory)}
}

// Reserves is what the container takes of its node whatever it asks for: what is in force, or
// set aside if that is more. It tells nothing where the kubelet does not.
func (c *Container) Reserves() (cpu, memory int64, told bool) {
	if c.facts&reported == 0 {
		return 0, 0, false
	}
	s := c.says()
	return max(s.running.CPU.Request, s.allocated.CPU), max(s.running.Memory.Request, s.allocated.Memory), true
}

// known keeps of spec what set does not have: a resize can neither add nor
// remove requests or limits.
func known(spec, set sizing.Amount) sizing.Amount {
	if spec.Request == 0 || set.Request == 0 {
		set.Request = spec.Request
	}
	if spec.Limit == 0 || set.Limit == 0 {
		set.Limit = spec.Limit
	}
	return set
}
