package plan

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Plan describes what to do with one pod, and why. It applies to the state of the pod that it was
// made from. Nobody changes a plan: Skipped and With return plans of their own.
type Plan struct {
	Subject
	Basis
	// Kind is the purpose of the plan.
	Kind     Kind
	Decision Decision
	// Past is whether the pod was sized before.
	Past Past
	// Emergency means that nothing but the API server may delay the actions of a restore.
	Emergency bool
	// Vetoed means that the plan would apply different sizes if nothing prevented that.
	Vetoed bool
	// Reasons has at least one reason for Align and Skip; the first one determined the
	// decision. For Resize, the reasons say why sizes stay unchanged, and what users
	// should know.
	Reasons []Reason
	// Containers are the containers that can be resized, in the order of the pod's spec:
	// regular containers, then sidecars if sidecars are resized.
	Containers []ContainerPlan
	// Derivation has every size that a stage led to, in the order of the stages. The last one of a resource
	// gave it its desired size, unless the pod keeps its sizes after all.
	Derivation []Derived
	// Claims are the places that the pod takes among others if it is resized: it gets a smaller size, which
	// not all of them may have now.
	Claims []workload.Claim
	// Partial is the reason why the plan applies only some of the desired sizes; empty if it applies all of
	// them. without lists the resources that it does not resize.
	Partial contract.Reason
	without []string
	// blockedBy is the reason why a revert is blocked; empty if none is.
	blockedBy contract.Reason
	// ReplanAt is the time at which to plan the pod again even if nothing changes, because time alone may
	// change its plan; zero if that is not necessary.
	ReplanAt time.Time
	// Eviction says when the pod moves to another node, or why it does not; empty if nothing requires that. Only previews say it.
	Eviction string
	// Wanted is the size that the node refuses, if the plan reverts it.
	Wanted *Asked
	// made is the draft that became the plan; nil if that has no actions.
	made *draft
	// guard is how resizes of the pod are observed.
	guard *policy.Guard
}

// Subject is the pod that a plan is about, in the state that the plan was made from.
type Subject struct {
	Pod             types.NamespacedName
	UID             types.UID
	ResourceVersion string
	QOSClass        corev1.PodQOSClass
	Node            string
	// Workloads are the pod's controller and the owners above it, the narrowest first.
	Workloads []workload.Workload
}

// Basis is what the ratio table says about the pod on its node.
type Basis struct {
	// NodeType is the type of the node, and NodeTypeLabel the label that it comes from, or
	// two labels joined by a comma if one of them names the CPU model. Both are empty if the
	// type is unknown.
	NodeType, NodeTypeLabel string
	// Rule is the path of the rule of the configuration that applies to the pod; empty for
	// the globals.
	Rule string
	// Baseline is the node type that requests are written for.
	Baseline string
	// Revision is the revision of the ratio table.
	Revision string
	// CPUFactor and MemoryFactor are zero if the node type has no ratio.
	CPUFactor, MemoryFactor sizing.Factor
	// FollowsUsage means that the rule applies usage: what it shows of a resource is what the resource needs.
	FollowsUsage bool
}

// Decision is what the plan does with a pod.
type Decision int8

const (
	// Skip leaves the pod unchanged.
	Skip Decision = iota
	// Align: the pod already has its desired size.
	Align
	// Resize changes requests or limits of the pod.
	Resize
)

// String returns the decision as users and metrics see it.
func (d Decision) String() string {
	switch d {
	case Resize:
		return "resize"
	case Align:
		return "aligned"
	}
	return "skip"
}

// Kind is the purpose of a plan.
type Kind uint8

const (
	// Sizes sizes the pod for its node.
	Sizes Kind = iota
	// RevertRefused reverts a size that the node cannot satisfy.
	RevertRefused
	// Restore returns the pod to its originals and removes our annotations.
	Restore
	// Revert reverts what a resize lowered, because it made the pod worse.
	Revert
)

// Past is whether a pod was sized before.
type Past uint8

const (
	// Sized: we resized the pod before, at least in part, or it says that it has the size for a node type.
	Sized Past = iota
	// Unsized: the pod was never sized.
	Unsized
	// New: it was never sized, except while it was being created, and started less than NewFor ago.
	New
)

// NewFor is how long a pod counts as new after it started.
const NewFor = 5 * time.Minute

// Guard returns how resizes of the pod are observed.
func (p *Plan) Guard() *policy.Guard { return p.guard }

// Pending reports whether there is anything to write, to the spec or to the annotations.
func (p *Plan) Pending() bool { return p.Decision == Resize || len(p.Actions()) > 0 }

// Paced reports whether the plan is executed only when it is the pod's turn: it restores the pod, unless
// in an emergency, or sizes a pod that is not new. Among older pods, many may never have been sized, as when the
// server is installed or a pause ends. A container that may be about to be killed cannot wait, nor can one that starts, and
// when its boost ends, others need the room.
func (p *Plan) Paced() bool {
	sizes := p.Kind == Sizes && !p.Begins() && !p.causedBy(ByBoost) && !slices.ContainsFunc(p.Containers, func(c ContainerPlan) bool { return c.rescued() })
	return p.Decision == Resize && (sizes || p.Kind == Restore && !p.Emergency)
}

// Frees returns how much less the pod requests after the plan, if that counts: not for new pods, which
// never held the room for long, nor for restores. Containers that grow count against those that shrink.
func (p *Plan) Frees() (frees node.Resources) {
	if !p.Paced() || p.Kind != Sizes {
		return frees
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		frees = frees.Plus(node.RequestsOf(c.Current)).Minus(node.RequestsOf(c.Desired))
	}
	return frees.AtLeast(node.Resources{})
}

// First reports whether the pod was never sized before, not even partly.
func (p *Plan) First() bool { return p.Past != Sized }

// Begins reports whether the plan gives a new pod its first size, scaled from what its author wrote. A new pod
// gets it where it landed and without delay, because it has not done any work yet with the size that it would lose.
// So a rolling update is a canary of its own.
func (p *Plan) Begins() bool { return p.Past == New }

// differs reports whether the plan changes any size.
func (p *Plan) differs() bool {
	for i := range p.Containers {
		if p.Containers[i].Desired != p.Containers[i].Current {
			return true
		}
	}
	return false
}

// grows reports whether the plan increases any size.
func (p *Plan) grows() bool {
	for i := range p.Containers {
		if c, d := &p.Containers[i].Current, &p.Containers[i].Desired; grows(c.CPU, d.CPU) || grows(c.Memory, d.Memory) {
			return true
		}
	}
	return false
}

func grows(has, to sizing.Amount) bool { return to.Request > has.Request || to.Limit > has.Limit }

// causedBy reports whether any resource changes by the cause.
func (p *Plan) causedBy(cause Cause) bool {
	return slices.ContainsFunc(p.Containers, func(c ContainerPlan) bool { return slices.Contains(c.Causes[:], cause) })
}

// resized reports whether the plan's sizes differ from the pod's originals, as far as the sizes are ours.
func (p *Plan) resized() bool {
	return p.differsFromOriginals(func(i int, m *sizing.Measure) bool { return p.Containers[i].Causes[m.Index] != NotOurs })
}

// differsFromOriginals reports whether the size of any of the resources of containers differs from its original.
func (p *Plan) differsFromOriginals(of func(container int, m *sizing.Measure) bool) bool {
	for i := range p.Containers {
		for _, m := range sizing.Measures {
			if c := &p.Containers[i]; of(i, m) && *m.Of(&c.Desired) != *m.Of(&c.Original) {
				return true
			}
		}
	}
	return false
}

// Wrongness returns the largest deviation of a size, as the absolute logarithm of
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

// Skipped returns the plan as one that skips the pod, for example because the API server would reject it.
func (p *Plan) Skipped(why Reason) *Plan {
	skipped := *p
	skipped.Containers = slices.Clone(p.Containers)
	skipped.skip(why)
	for i := range skipped.Containers {
		for k, cause := range skipped.Containers[i].Causes {
			if cause != NotOurs {
				skipped.Containers[i].Causes[k] = Unchanged
			}
		}
	}
	return &skipped
}

// With returns the plan with one more reason.
func (p *Plan) With(more Reason) *Plan {
	with := *p
	with.Reasons = append(slices.Clip(p.Reasons), more)
	return &with
}

// skip makes the plan leave the pod as it is.
func (p *Plan) skip(why Reason) {
	p.Vetoed = p.Vetoed || p.differs()
	p.Reasons = []Reason{{why.Code, bounded(why.Message)}}
	p.Decision, p.Claims = Skip, nil
	p.keepSizes()
}

// keepSizes makes the plan change no sizes.
func (p *Plan) keepSizes() {
	for i := range p.Containers {
		p.Containers[i].Desired = p.Containers[i].Current
	}
}

// Objection returns the reason why the pod does not get all of its desired sizes: the reason
// to skip it, or the reason why some sizes stay. It is zero if there is none.
func (p *Plan) Objection() Reason {
	for _, reason := range p.Reasons {
		if p.Decision == Skip || reason.Code == p.Partial || reason.Code == contract.ExternallyResized {
			return reason
		}
	}
	return Reason{}
}

// Signature returns a hash of what the plan writes to the pod, and whether in an emergency: a
// restore that becomes one does not wait because it failed before.
func (p *Plan) Signature() uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %t %s %s ", p.Kind, p.Emergency, p.Revision, p.NodeType) // It never fails.
	for i := range p.Containers {
		_, _ = fmt.Fprint(h, p.Containers[i].Desired)
	}
	return h.Sum64()
}

// replanAt plans the pod again at a time, unless the time is zero or the pod is planned again earlier.
func (p *Plan) replanAt(at time.Time) { p.ReplanAt = need.Sooner(p.ReplanAt, at) }
