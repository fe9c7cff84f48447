package plan

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
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
// the pod that it was made from. Only its maker may change it, and only before sharing it:
// a preview that the API server refuses becomes a plan that skips.
type Plan struct {
	Pod             types.NamespacedName
	UID             types.UID
	ResourceVersion string
	QOSClass        corev1.PodQOSClass

	Node string
	// NodeType and NodeTypeLabel, the label that gave it, or two joined by a
	// comma if one of them gave the CPU model, are empty if the type could not be
	// told.
	NodeType, NodeTypeLabel string
	// Rule is the path of the rule of the configuration that holds for the
	// pod; empty for the globals.
	Rule string
	// Baseline is the node type that requests are written for.
	Baseline string
	// Revision is that of the ratio table.
	Revision string
	// CPUFactor and MemoryFactor are zero if the node type has no ratio.
	CPUFactor, MemoryFactor sizing.Factor

	Decision Decision
	// Reasons has at least one for Align and Skip, the one that decided
	// first. For Resize they tell what held a size back, and what people have
	// to know.
	Reasons []Reason
	// Containers are those of the pod's spec that can be resized, in its
	// order: its containers, then its sidecars if these are resized.
	Containers []ContainerPlan

	// Workloads are what makes the pod, the narrowest first.
	Workloads []safety.Workload
	// Kind is what the plan is for.
	Kind Kind
	// keepRecord says that a restore must not remove the originals: it is not
	// complete.
	keepRecord bool
	// awaits says that it is so only until the node has done it.
	awaits bool
	// keepOriginals says that a whole restore leaves the originals: nothing else says
	// that the pod has them.
	keepOriginals bool
	// corrected says that originals in annotations are wrong.
	corrected bool
	// vouches is what the annotation is to say of who else could know originals; empty
	// if it need not be written.
	vouches string
	// left says that a size stays that somebody else set, or whose original is not
	// known; lost that there is one of the latter.
	left, lost bool
	// Partial is why the plan gives only some of the sizes that the pod should have;
	// empty if it gives them all.
	Partial contract.Reason
	// without names what it does not give.
	without []string
	// sized says that we resized the pod before.
	sized bool
	// ReplanAt is when the pod is to be planned again though nothing changes, as what
	// its node said counts for so long; zero if it need not be.
	ReplanAt time.Time
	// Applied is the node type that the pod says it was sized for.
	Applied string
	// Vetoed tells that the plan would give other sizes than it does, if nothing spoke
	// against that.
	Vetoed bool
	// Wanted is the size that the node refuses, of a plan that puts back, and
	// noteInfeasible the annotation that says so, where it refuses it whatever the amounts
	// are; empty if it does not, or it is there.
	Wanted, noteInfeasible string
	// dropInfeasible says that this annotation is there, counts no more, and goes with
	// the next record.
	dropInfeasible bool
}

// Kind is what a plan is for.
type Kind int

const (
	// Sizes gives the pod the sizes of its node.
	Sizes Kind = iota
	// PutBack takes a size back that the node cannot give.
	PutBack
	// Restore gives the pod its originals and removes every trace of us.
	Restore
)

// Reason is a reason with its particulars.
type Reason struct {
	Code    contract.Reason
	Message string
}

// ContainerPlan is what one container was asked for, has, and should have.
type ContainerPlan struct {
	Name                       string
	Original, Current, Desired sizing.Container
	// Sidecar tells that it is a restartable init container.
	Sidecar bool

	// of is the container that the plan is for.
	of *pod.Container
	// index is its place in the pod, containers before init containers.
	index int
	// clamped says that a bound decided, by sizing.Measure.Index.
	clamped [2]bool
	// standings are what may be done with cpu and memory, by sizing.Measure.Index.
	standings [2]pod.Standing
	// unrecorded has a bit for each contract.Original that is to be written, takesOver
	// for each that another wrote and that is to be ours, adopts
	// for each that somebody else set and that is adopted, outdated for each that
	// was adopted and has changed since.
	unrecorded, takesOver, adopts, outdated uint8
}

// knows reports whether the original of a resource is known, its limit's too if it has one.
func (c *ContainerPlan) knows(r *sizing.Measure) bool {
	original, present := r.Of(&c.Original), r.Of(&c.Current)
	return original.Request != 0 && (original.Limit != 0) == (present.Limit != 0)
}

// adopted has a bit for each amount that was adopted.
func (c *ContainerPlan) adopted() uint8 { return c.standings[0].Adopted | c.standings[1].Adopted }

// Pending reports whether there is anything to write: to the spec, or to the
// annotations that record it.
func (p *Plan) Pending() bool {
	switch {
	case p.Decision == Skip:
		return false
	case p.Decision == Resize:
		return true
	case p.Kind == Restore:
		return !p.keepRecord
	}
	return p.unrecordedApplied() || p.noteInfeasible != ""
}

// unrecordedApplied reports whether it is to be recorded of an aligned pod what it has.
func (p *Plan) unrecordedApplied() bool {
	return p.Applied != p.NodeType || p.corrected || p.adoptionsChange()
}

// adoptionsChange reports whether what is recorded of adopted sizes is not right.
func (p *Plan) adoptionsChange() bool {
	for i := range p.Containers {
		if c := &p.Containers[i]; c.adopts|c.outdated != 0 {
			return true
		}
	}
	return false
}

// Realigns tells whether the plan gives other sizes to a pod that was sized
// before.
func (p *Plan) Realigns() bool {
	return p.Decision == Resize && (p.Kind == Sizes && !p.First() || p.Kind == Restore)
}

// First reports whether the pod was never sized before, not even in part.
func (p *Plan) First() bool { return p.Applied == "" && !p.sized }

// differs tells whether any size is to change.
func (p *Plan) differs() bool {
	for i := range p.Containers {
		if p.Containers[i].Desired != p.Containers[i].Current {
			return true
		}
	}
	return false
}

// grows tells whether any size is to become larger.
func (p *Plan) grows() bool {
	for i := range p.Containers {
		if c, d := &p.Containers[i].Current, &p.Containers[i].Desired; grows(c.CPU, d.CPU) || grows(c.Memory, d.Memory) {
			return true
		}
	}
	return false
}

// Wrongness is by how much the worst size is wrong, as the absolute logarithm of
// desired / current.
func (p *Plan) Wrongness() float64 {
	worst := 0.0
	for i := range p.Containers {
		c, d := &p.Containers[i].Current, &p.Containers[i].Desired
		for _, pair := range [...][2]int64{{c.CPU.Request, d.CPU.Request}, {c.CPU.Limit, d.CPU.Limit}, {c.Memory.Request, d.Memory.Request}, {c.Memory.Limit, d.Memory.Limit}} {
			if pair[0] > 0 && pair[1] > 0 {
				worst = max(worst, math.Abs(math.Log(float64(pair[1])/float64(pair[0]))))
			}
		}
	}
	return worst
}

// resized reports whether the pod will have, or has, other sizes than its author
// asked for, as far as that is known.
func (p *Plan) resized() bool {
	for i := range p.Containers {
		for _, r := range sizing.Measures {
			if c := &p.Containers[i]; c.standings[r.Index].Ours() && *r.Of(&c.Desired) != *r.Of(&c.Original) {
				return true
			}
		}
	}
	return false
}

const andMore = "; and more"

// Skip makes the plan leave the pod alone.
func (p *Plan) Skip(veto *safety.Veto) *Plan {
	p.Vetoed = p.Vetoed || p.differs()
	p.Reasons = []Reason{{veto.Reason, veto.Message}}
	p.leaveAlone()
	return p
}

// Objection is why the pod does not get all the sizes that it should have: the reason of
// a plan to skip, or what keeps some of them back. It is zero where there is none.
func (p *Plan) Objection() Reason {
	for _, reason := range p.Reasons {
		if p.Decision == Skip || reason.Code == p.Partial || reason.Code == contract.ExternallyResized {
			return reason
		}
	}
	return Reason{}
}

// leaveAlone makes the plan write nothing.
func (p *Plan) leaveAlone() {
	p.Decision = Skip
	p.keepSizes()
	for i := range p.Containers {
		p.Containers[i].unrecorded, p.Containers[i].takesOver = 0, 0
	}
}

// keepSizes makes the plan give no other sizes.
func (p *Plan) keepSizes() {
	for i := range p.Containers {
		p.Containers[i].Desired = p.Containers[i].Current
	}
}

// mostOfAReason is how many bytes a reason has at most before it ends with "and more": it
// goes into events, logs and answers, and a pod may have a thousand containers.
const mostOfAReason = 4096

// because adds a reason. There is one of a code, with the particulars of all
// containers.
func (p *Plan) because(code contract.Reason, message string) {
	for i := range p.Reasons {
		r := &p.Reasons[i]
		switch {
		case r.Code != code:
			continue
		case len(r.Message)+len(message) <= mostOfAReason:
			r.Message += "; " + message
		case !strings.HasSuffix(r.Message, andMore):
			r.Message += andMore
		}
		return
	}
	p.Reasons = append(p.Reasons, Reason{code, message})
}

// before puts a reason before all others.
func (p *Plan) before(code contract.Reason, message string) {
	p.Reasons = append([]Reason{{code, message}}, p.Reasons...)
}

// Signature is the same for plans that write the same to a pod, and for hardly any others.
func (p *Plan) Signature() uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s %s %s", p.Kind, p.Revision, p.NodeType, amountsOf(p, desired)) // It never fails.
	return h.Sum64()
}

// amountsOf are all amounts of the containers as one text, to be compared.
func amountsOf(p *Plan, of func(*ContainerPlan) *sizing.Container) string {
	var b strings.Builder
	for i := range p.Containers {
		fmt.Fprint(&b, *of(&p.Containers[i]))
	}
	return b.String()
}

// Describe tells in one line what becomes of the containers, e.g.
// "app: cpu 1 → 800m, memory 1Gi".
func (p *Plan) Describe() string {
	var b strings.Builder
	for i := range p.Containers {
		c := &p.Containers[i]
		from := c.Original
		if p.Kind != Sizes {
			from = c.Current
		}
		if from.CPU.Request == 0 && from.Memory.Request == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.Name)
		b.WriteByte(':')
		describeAmount(&b, " cpu ", sizing.CPUText, from.CPU, c.Desired.CPU)
		if from.CPU.Request > 0 && from.Memory.Request > 0 {
			b.WriteByte(',')
		}
		describeAmount(&b, " memory ", sizing.MemoryText, from.Memory, c.Desired.Memory)
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
