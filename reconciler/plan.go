package reconciler

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Decision is what is to be done with a pod.
type Decision int

const (
	// Skip leaves the pod alone.
	Skip Decision = iota
	// Align finds that the pod has what it should have.
	Align
	// Resize gives the pod other requests or limits.
	Resize
)

// String is the decision as people and metrics see it.
func (d Decision) String() string {
	switch d {
	case Resize:
		return "resize"
	case Align:
		return "aligned"
	}
	return "skip"
}

// Plan is what is to be done with one pod, and why. It belongs to the state of
// the pod that it was made from and never changes.
type Plan struct {
	Pod             types.NamespacedName
	UID             types.UID
	ResourceVersion string
	QOSClass        corev1.PodQOSClass

	Node string
	// NodeType and NodeTypeLabel, the label that gave it, are empty if the
	// type could not be told.
	NodeType, NodeTypeLabel string
	// Baseline is the node type that requests are written for.
	Baseline string
	// Revision is that of the ratio table.
	Revision string
	// CPUFactor and MemoryFactor are zero if the node type has no ratio.
	CPUFactor, MemoryFactor ratios.Quotient

	Decision Decision
	// Reasons has at least one for Align and Skip, the one that decided
	// first. For Resize they tell what held a size back.
	Reasons []Reason
	// Containers are those of the pod's spec, in its order.
	Containers []ContainerPlan

	// unrecorded are annotations with originals that the pod lacks.
	unrecorded map[string]string
	// applied is the node type that the pod says it was sized for.
	applied string
}

// Reason is a reason with its particulars.
type Reason struct {
	Code    contract.Reason
	Message string
}

// ContainerPlan is what one container was asked for, has, and should have.
type ContainerPlan struct {
	Name                       string
	Original, Current, Desired sizing.Container

	// cpuClamped and memoryClamped tell that a bound decided.
	cpuClamped, memoryClamped bool
	// cpu and memory are what may be done with them.
	cpu, memory standing
}

// pending tells whether there is anything to write: to the spec, or to the
// annotations that record it.
func (p *Plan) pending() bool {
	switch p.Decision {
	case Resize:
		return true
	case Align:
		return p.applied != p.NodeType
	}
	return false
}

// resized tells whether the pod will have, or has, other sizes than its author
// asked for.
func (p *Plan) resized() bool {
	for i := range p.Containers {
		if p.Containers[i].Desired != p.Containers[i].Original {
			return true
		}
	}
	return false
}

// signature is the same for plans that write the same to a pod.
func (p *Plan) signature() string {
	return p.Revision + " " + p.NodeType + " " + p.describe()
}

func (p *Plan) because(code contract.Reason, message string) {
	p.Reasons = append(p.Reasons, Reason{code, message})
}

// describe tells in one line what becomes of the containers, e.g.
// "app: cpu 1 → 800m, memory 1Gi".
func (p *Plan) describe() string {
	var b strings.Builder
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.Original == (sizing.Container{}) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.Name)
		b.WriteByte(':')
		describeAmount(&b, " cpu ", sizing.CPUText, c.Original.CPU, c.Desired.CPU)
		if c.Original.CPU.Request > 0 && c.Original.Memory.Request > 0 {
			b.WriteByte(',')
		}
		describeAmount(&b, " memory ", sizing.MemoryText, c.Original.Memory, c.Desired.Memory)
	}
	return b.String()
}

func describeAmount(b *strings.Builder, name string, text func(int64) string, from, to sizing.Amount) {
	if from.Request == 0 {
		return
	}
	b.WriteString(name)
	b.WriteString(text(from.Request))
	if to.Request != from.Request {
		b.WriteString(" → ")
		b.WriteString(text(to.Request))
	}
}
