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

// Decision is what the plan does with a pod.
type Decision int

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

// Plan describes what to do with one pod, and why. It applies to the state of the pod that it was
// made from. Only its maker may change it, and only before sharing it: if the API server rejects
// a preview, the plan becomes one that skips the pod.
type Plan struct {
	Pod             types.NamespacedName
	UID             types.UID
	ResourceVersion string
	QOSClass        corev1.PodQOSClass

	Node string
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

	Decision Decision
	// Reasons has at least one reason for Align and Skip; the first one determined the
	// decision. For Resize, the reasons say why sizes stay unchanged, and what users
	// should know.
	Reasons []Reason
	// Containers are the containers that can be resized, in the order of the pod's spec:
	// regular containers, then sidecars if sidecars are resized.
	Containers []ContainerPlan

	// Workloads are the pod's controller and the owners above it, the narrowest first.
	Workloads []safety.Workload
	// Kind is the purpose of the plan.
	Kind Kind
	// Emergency means that nothing but the API server may delay the writes of a restore.
	Emergency bool
	// keepRecord means that a restore is incomplete, so it must not remove the originals.
	keepRecord bool
	// awaits means that the restore is incomplete only until the node has completed it.
	awaits bool
	// keepOriginals means that a complete restore keeps the annotations with the originals:
	// nothing else proves that the pod has its originals.
	keepOriginals bool
	// corrected means that annotations contain wrong originals.
	corrected bool
	// vouches is the value of the annotation with the managers whose originals are trusted;
	// empty if it need not be written.
	vouches string
	// left means that a size stays because another actor set it or its original is unknown;
	// lost means that at least one original is unknown.
	left, lost bool
	// Partial is the reason why the plan applies only some of the desired sizes; empty if
	// it applies all of them.
	Partial contract.Reason
	// Claims are the places that the pod takes among others if it is resized: it gets a smaller size, which
	// not all of them may have now.
	Claims []Claim
	// without lists the resources that a partial plan does not resize.
	without []string
	// sized means that we resized the pod before, and new that it started less than NewFor ago.
	sized, new bool
	// ReplanAt is the time at which to plan the pod again even if nothing changes, because time alone may
	// change its plan; zero if that is not necessary.
	ReplanAt time.Time
	// Applied is the node type that the pod was last sized for, according to its annotation.
	Applied string
	// Vetoed means that the plan would apply different sizes if nothing prevented that.
	Vetoed bool
	// Wanted is the size that the node refuses, if the plan reverts it. noteInfeasible is
	// the annotation to write if the node refuses any size; empty if it does not, or if the
	// annotation exists already.
	Wanted, noteInfeasible string
	// dropInfeasible means that this annotation exists but no longer counts. The next record
	// removes it.
	dropInfeasible bool
	// failed is the failure that the pod records; nil if it records none. It no longer counts once a
	// plan succeeds.
	failed *Failure
	// reverts are the resizes that made the pod worse, to record before they are reverted.
	// earlier are those that the pod records already.
	reverts, earlier []pod.Revert
	// undoes means that a revert changes a size that made the pod worse. Otherwise, it only makes the node
	// notice an earlier revert.
	undoes bool
	// completes means that a revert changes a request whose limit was reverted alone.
	completes bool
	// finishes means that the plan finishes reverts that were recorded, but not made.
	finishes bool
	// judgedAt is when it is clear whether the last resize made the pod worse; zero unless it may have.
	judgedAt time.Time
	// unmeasured is what is not known of how the pod fares since its last resize; empty if it is known.
	unmeasured string
	// recounted is the record of the last resize, as a revert or a PutBack changes it; empty if it
	// need not be written.
	recounted string
	// theirRecord is a record of a resize that others wrote; empty if there is none.
	theirRecord string
	// unrecordedSizes means that the record on the pod is not about its last resize.
	unrecordedSizes bool
}

// Kind is the purpose of a plan.
type Kind int

const (
	// Sizes sizes the pod for its node.
	Sizes Kind = iota
	// PutBack reverts a size that the node cannot satisfy.
	PutBack
	// Restore returns the pod to its originals and removes our annotations.
	Restore
	// Revert reverts what a resize lowered, because it made the pod worse.
	Revert
)

// ContainerPlan holds the original, current and desired size of one container.
type ContainerPlan struct {
	Name                       string
	Original, Current, Desired sizing.Container
	// Sidecar means that the container is a restartable init container.
	Sidecar bool

	// of is the container that the plan is for.
	of *pod.Container
	// index is its index in the pod, containers before init containers.
	index int
	// clamped means that a bound determined the request, by sizing.Measure.Index.
	clamped [2]bool
	// standings say what may be done with cpu and memory, by sizing.Measure.Index.
	standings [2]pod.Standing
	// reverting means that the plan reverts a resize of the resource, and unproven is its size
	// before a resize that is still observed. Both are by sizing.Measure.Index.
	reverting [2]bool
	unproven  [2]sizing.Amount
	// why is the reason why the plan reverts the resource, by sizing.Measure.Index.
	why [2]string
	// waits means that the pod may not get the desired size yet because of other pods, by sizing.Measure.Index.
	waits [2]bool
	// restarts is how often the container had restarted before the observed resize. If no resize is
	// observed, it is how often the container has restarted until now.
	restarts int32
	// These have a bit for each contract.Original. unrecorded: it must be written.
	// takesOver: another manager wrote it, and we must become its owner. adopts: the plan
	// adopts the amount that another actor set. outdated: it is recorded as adopted, but
	// that record no longer applies.
	unrecorded, takesOver, adopts, outdated uint8
}

// knows reports whether the original request of a resource is known, and also the original
// limit if the container has a limit.
func (c *ContainerPlan) knows(r *sizing.Measure) bool {
	original, present := r.Of(&c.Original), r.Of(&c.Current)
	return original.Request != 0 && (original.Limit != 0) == (present.Limit != 0)
}

// adopted returns a bit for each amount that was adopted.
func (c *ContainerPlan) adopted() uint8 { return c.standings[0].Adopted | c.standings[1].Adopted }

// Pending reports whether there is anything to write, to the spec or to the annotations.
func (p *Plan) Pending() bool {
	switch {
	case p.Decision == Skip:
		return false
	case p.Decision == Resize:
		return true
	case p.Kind == Restore:
		return !p.keepRecord
	}
	return p.unrecordedApplied() || p.noteInfeasible != "" || p.failed != nil || len(p.reverts) > 0
}

// unrecordedApplied reports whether the annotations of an aligned pod must be updated. A pod with a lost original
// must not look as if the original were known.
func (p *Plan) unrecordedApplied() bool {
	return p.Applied != p.NodeType && !p.lost || p.unrecordedBesides()
}

// unrecordedBesides reports whether the annotations lack more than the node type.
func (p *Plan) unrecordedBesides() bool {
	return p.corrected || p.adoptionsChange() || p.unrecordedSizes
}

// adoptionsChange reports whether the record of adopted sizes must change.
func (p *Plan) adoptionsChange() bool {
	for i := range p.Containers {
		if c := &p.Containers[i]; c.adopts|c.outdated != 0 {
			return true
		}
	}
	return false
}

// Paced reports whether the plan is executed only when it is the pod's turn: it restores the pod, unless
// in an emergency, or sizes a pod that is not new. Among older pods, many may never have been sized, as when the
// server is installed or a pause ends.
func (p *Plan) Paced() bool {
	return p.Decision == Resize && (p.Kind == Sizes && !p.Begins() || p.Kind == Restore && !p.Emergency)
}

// NewFor is how long a pod counts as new after it started.
const NewFor = 5 * time.Minute

// Frees returns how much less the pod requests after the plan, if that counts: not for new pods, which
// never held the room for long, nor for restores. Containers that grow count against those that shrink.
func (p *Plan) Frees() (frees safety.Resources) {
	if !p.Paced() || p.Kind != Sizes {
		return frees
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		frees.CPU += c.Current.CPU.Request - c.Desired.CPU.Request
		frees.Memory += c.Current.Memory.Request - c.Desired.Memory.Request
	}
	return safety.Resources{CPU: max(0, frees.CPU), Memory: max(0, frees.Memory)}
}

// First reports whether the pod was never sized before, not even partly.
func (p *Plan) First() bool { return p.Applied == "" && !p.sized }

// Begins reports whether the plan gives a new pod its first size, scaled from what its author wrote. A new pod
// gets it where it landed and without delay, because it has not done any work yet with the size that it would lose.
// So a rolling update is a canary of its own.
func (p *Plan) Begins() bool { return p.new && p.First() }

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

// resized reports whether the plan's sizes differ from the pod's originals, as far as these
// are known.
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

// Skip turns the plan into one that skips the pod.
func (p *Plan) Skip(veto *safety.Veto) *Plan {
	p.Vetoed = p.Vetoed || p.differs()
	p.Reasons = []Reason{{veto.Reason, veto.Message}}
	p.leaveAlone()
	return p
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

// leaveAlone makes the plan write nothing.
func (p *Plan) leaveAlone() {
	p.Decision = Skip
	p.keepSizes()
	for i := range p.Containers {
		p.Containers[i].unrecorded, p.Containers[i].takesOver = 0, 0
	}
}

// keepSizes makes the plan change no sizes, so that it needs no places.
func (p *Plan) keepSizes() {
	p.Claims = nil
	for i := range p.Containers {
		p.Containers[i].Desired = p.Containers[i].Current
	}
}

// Signature returns a hash of what the plan writes to the pod, and whether in an emergency: a
// restore that becomes one does not wait because it failed before.
func (p *Plan) Signature() uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %t %s %s %s", p.Kind, p.Emergency, p.Revision, p.NodeType, amountsOf(p, desired)) // It never fails.
	return h.Sum64()
}

// amountsOf returns all amounts of the containers as one string for comparisons.
func amountsOf(p *Plan, of func(*ContainerPlan) *sizing.Container) string {
	var b strings.Builder
	for i := range p.Containers {
		fmt.Fprint(&b, *of(&p.Containers[i]))
	}
	return b.String()
}
