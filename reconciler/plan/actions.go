package plan

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Step names an action.
type Step string

const (
	StepOriginals Step = "originals"
	StepResize    Step = "resize"
	StepApplied   Step = "applied"
	// StepRecord combines StepOriginals and StepApplied if there is nothing to resize.
	StepRecord Step = "record"
	// StepInfeasible records what the node refuses for any size, that a refused size is reverted, or
	// what the API server did not accept.
	// StepRevertRefused reverts the pod to the sizes that its node still has.
	StepInfeasible    Step = "infeasible"
	StepRevertRefused Step = "revertRefused"
	// StepReverted records why a resize is reverted, and StepRevert reverts it.
	StepReverted Step = "reverted"
	StepRevert   Step = "revert"
	// StepRestore is a resize to the originals. StepClean removes our annotations.
	StepRestore Step = "restore"
	StepClean   Step = "clean"
	// StepPreview is a dry run of a resize; it writes nothing.
	StepPreview Step = "preview"
)

// Steps lists all steps.
var Steps = []Step{StepOriginals, StepResize, StepApplied, StepRecord, StepInfeasible, StepRevertRefused, StepReverted, StepRevert, StepRestore, StepClean, StepPreview}

// Action is one request to the API server that a plan needs.
type Action struct {
	Step Step
	// Annotations are the annotations to write, or to remove (nil). Steps that resize or
	// clean have none.
	Annotations map[string]*string
	// Anyhow means that the action applies even if the pod has changed since the previous
	// one: it records what was done, and the kubelet's own update of the pod must not
	// prevent it. All other actions apply only to the pod as it was planned and as the
	// previous actions left it.
	Anyhow bool
	// stamps are the annotations whose value is the time of the action, and reverts those to record with that time.
	stamps  []string
	reverts []pod.Revert
	// sizes is the part of the patch that resizes.
	sizes *specPatch
}

// Resizes reports whether the step applies the sizes of the plan to the pod.
func (s Step) Resizes() bool {
	return s == StepResize || s == StepRevertRefused || s == StepRevert || s == StepRestore || s == StepPreview
}

// At returns the action as it is made at a time.
func (a Action) At(now time.Time) Action {
	if len(a.stamps) == 0 && len(a.reverts) == 0 {
		return a
	}
	a.Annotations = maps.Clone(a.Annotations)
	for _, key := range a.stamps {
		a.Annotations[key] = new(now.UTC().Format(time.RFC3339))
	}
	if len(a.reverts) > 0 {
		all := slices.Clone(a.reverts)
		for i := range all {
			if all[i].At.IsZero() {
				all[i].At = now
			}
		}
		a.Annotations[contract.Reverts] = new(pod.RevertsText(all))
	}
	return a
}

// Preview returns the action that asks the API server what it would make of the plan's resize.
func (p *Plan) Preview() Action {
	for _, a := range p.Actions() {
		if a.Step.Resizes() {
			return Action{Step: StepPreview, sizes: a.sizes}
		}
	}
	return Action{Step: StepPreview}
}

// Actions returns what to do to the pod, in order; nothing if there is nothing to do.
//
// The order is the recovery contract:
//
//   - To size a pod: (1) the originals, and the managers whose originals are trusted, (2)
//     the resize, (3) the applied node type, if nothing remains to be done.
//   - To restore a pod: (1) the managers whose originals are trusted, (2) the resize, (3)
//     the removal of all annotations, if the restore is complete.
//   - To revert a size that the node refuses: the record of the node's answer, if it applies to more than these
//     amounts, and of the sizes that are reverted, and then the resize.
//   - To revert a resize that made the pod worse: why, and then the resize. From the first
//     action on, the pod's desired size is the former one.
//
// After any last action, the next plan starts from the originals and continues from there, so
// nothing compounds.
func (p *Plan) Actions() []Action {
	if p.Decision == Skip || p.made == nil {
		return nil
	}
	var all []Action
	switch d := p.made; {
	case d.Kind == RevertRefused:
		all = []Action{{Step: StepInfeasible, Annotations: d.refused()}, d.resizing(StepRevertRefused)}
	case d.Kind == Revert:
		all = []Action{d.annotateReverts(), d.resizing(StepRevert)}
	case d.Kind == Restore:
		all = []Action{{Step: StepOriginals, Annotations: d.vouching()}, d.resizing(StepRestore), {Step: StepClean}}
		if d.Decision != Resize {
			all = all[2:]
		}
		if d.restore.incomplete {
			all = all[:len(all)-1]
		}
	case d.Decision == Align:
		all = d.annotating()
	default:
		all = []Action{d.annotateOriginals(StepOriginals), d.resizing(StepResize), d.resized()}
		if first := &all[0]; d.keepsDemand() { // If the process ends before the last write, the pod still keeps it.
			if first.Annotations == nil {
				first.Annotations = map[string]*string{}
			}
			d.annotateCreation(first.Annotations)
		}
	}
	if d := p.made; d.of.SizedAtCreation() && (d.Kind == Revert || d.Kind == Restore && d.Decision == Resize) {
		// This is the first resize of the pod: from then on, only the annotations have the originals.
		all = slices.Insert(all, 0, d.annotateOriginals(StepOriginals))
	}
	return slices.DeleteFunc(all, func(a Action) bool {
		return len(a.Annotations) == 0 && len(a.stamps) == 0 && len(a.reverts) == 0 && a.sizes == nil && a.Step != StepClean
	})
}

// Creation returns what a pod that is being created gets together with its sizes: the annotations that a resize to them
// would leave, and the record of the sizes before and after, in the form of pod.AppliedSizes. It is empty unless the plan
// changes sizes, or keeps them because usage shows the same.
func (p *Plan) Creation(now time.Time) (annotations map[string]string, sizes, demand string) {
	if p.Kind != Sizes || p.Decision != Resize && (p.made == nil || !p.made.keepsAuthored()) {
		return nil, "", ""
	}
	annotations = map[string]string{}
	for _, a := range p.Actions() {
		for key, text := range a.At(now).Annotations {
			if text != nil {
				annotations[key] = *text
			}
		}
	}
	sizes, demand = annotations[contract.AppliedSizes], annotations[contract.AppliedDemand]
	// They count only if the reconciler wrote them.
	delete(annotations, contract.AppliedSizes)
	delete(annotations, contract.AppliedDemand)
	return annotations, sizes, demand
}

// resizing returns the action that gives the pod its sizes. It has no effect if the plan changes none.
func (d *draft) resizing(step Step) Action {
	if d.Decision != Resize {
		return Action{Step: step}
	}
	return Action{Step: step, sizes: d.sizesPatch()}
}

// annotating returns the annotations to write to an aligned pod.
func (d *draft) annotating() []Action {
	answer := Action{Step: StepInfeasible, Annotations: d.infeasible()}
	switch {
	case d.lacksAnnotations():
	case answer.Annotations == nil:
		return nil
	default:
		return []Action{answer}
	}
	applied, originals := d.annotateApplied(), d.annotateOriginals(StepRecord)
	switch {
	case len(originals.Annotations) == 0:
		applied.Step = StepApplied
		return []Action{answer, applied}
	case d.raised() && !d.sized && d.applied == "":
		originals.Step = StepOriginals // It is not sized until its start is over.
		return []Action{answer, originals}
	}
	maps.Copy(applied.Annotations, originals.Annotations)
	applied.Step, applied.stamps = StepRecord, append(applied.stamps, originals.stamps...)
	return []Action{answer, applied}
}

// raised reports whether another controller raises cpu until the pod has started.
func (d *draft) raised() bool {
	return slices.ContainsFunc(d.parts, func(of part) bool {
		_, request := of.of.Raised(contract.CPURequest)
		_, limit := of.of.Raised(contract.CPULimit)
		return request != 0 || limit != 0
	})
}

// resized returns what to record after the resize. A partial plan does not record the node type.
func (d *draft) resized() Action {
	applied := Action{Annotations: d.notAdopted()}
	if d.Partial == "" {
		applied = d.annotateApplied()
	} else {
		d.annotateSizes(applied.Annotations)
		if d.failed != nil {
			applied.Annotations[contract.Infeasible] = nil
		}
	}
	applied.Step, applied.Anyhow = StepApplied, true
	return applied
}

// refused returns the annotations with the node's answer, and with the record of the sizes that
// are reverted; nil if they need not be written.
func (d *draft) refused() map[string]*string {
	annotations := d.infeasible()
	if d.recounted != "" {
		if annotations == nil {
			annotations = map[string]*string{}
		}
		annotations[contract.AppliedSizes] = &d.recounted
	}
	return annotations
}

// infeasible returns the annotation with the node's answer, or without a failure that no longer
// counts; nil if it need not be written.
func (d *draft) infeasible() map[string]*string {
	switch {
	case d.note != "":
		return map[string]*string{contract.Infeasible: &d.note}
	case d.failed != nil:
		return map[string]*string{contract.Infeasible: nil}
	}
	return nil
}

// annotateReverts returns the action that records why sizes are reverted, and of what resize; it has no effect if that
// need not be written.
func (d *draft) annotateReverts() Action {
	a := Action{Step: StepReverted, Annotations: map[string]*string{}}
	d.annotateCreation(a.Annotations)
	if d.recounted != "" {
		a.Annotations[contract.AppliedSizes] = &d.recounted
	}
	if len(d.proof.reverts) == 0 {
		return a
	}
	for _, before := range d.of.Reverts() {
		if revertOf(d.proof.reverts, before.Container, before.Measure) == nil {
			a.reverts = append(a.reverts, before)
		}
	}
	a.reverts = append(a.reverts, d.proof.reverts...)
	return a
}

// annotateCreation adds what a pod got from usage when it was created: from its first resize on, only the annotations say so.
// A resource that is reverted no longer has it.
func (d *draft) annotateCreation(annotations map[string]*string) {
	if !d.of.SizedAtCreation() || !d.of.HasAppliedDemand() {
		return
	}
	demand := d.of.AppliedDemand()
	for i := range demand {
		for _, m := range sizing.Measures {
			if revertOf(d.proof.reverts, demand[i].Name, m) != nil {
				demand[i].Amounts[m.Index] = 0
			}
		}
	}
	demand = slices.DeleteFunc(demand, func(c pod.ContainerDemand) bool { return c.Amounts == [2]int64{} })
	if len(demand) > 0 {
		annotations[contract.AppliedSizes], annotations[contract.AppliedDemand] = new(d.of.AppliedSizes().String()), new(demand.String())
	}
}

// annotateSizes adds the annotation that records what the plan changes, if it or an earlier plan
// resized the pod.
func (d *draft) annotateSizes(annotations map[string]*string) {
	if d.Decision != Resize && !d.sized && !d.keepsAuthored() {
		return
	}
	applied := d.appliedSizes(current)
	d.keepTimes(applied)
	text := applied.String()
	if text == d.of.TheirAppliedSizes() {
		text = strings.Replace(text, " ", " 0", 1) // A zero before the restarts, to become the owner.
	}
	annotations[contract.AppliedSizes] = &text
	d.annotateDemand(annotations)
}

// keepTimes adds when the resources that follow usage, and that the plan does not change, changed last: how soon each of
// them may change depends on that.
func (d *draft) keepTimes(applied pod.AppliedSizes) {
	if !d.FollowsUsage {
		return
	}
	before := d.of.AppliedSizes()
	for i := range d.Containers {
		c := &d.Containers[i]
		since := d.resizedAt(need.Resized{}, i, before)
		for _, m := range sizing.Measures {
			if c.Needs[m.Index].Recommended != nil && *m.Of(&c.Desired) == *m.Of(&c.Current) {
				applied[i].Since[m.Index] = since[m.Index]
			}
		}
	}
}

// appliedSizes returns what the plan changes, for the annotation. from returns the size before it of a
// container whose last resize has proven itself.
func (d *draft) appliedSizes(from func(*ContainerPlan) *sizing.Container) pod.AppliedSizes {
	applied := make(pod.AppliedSizes, len(d.Containers))
	for i := range d.Containers {
		c, of := &d.Containers[i], &d.parts[i]
		applied[i] = pod.ContainerSizes{Name: c.Name, Restarts: of.restarts, From: *from(c), To: c.Desired}
		for _, m := range sizing.Measures {
			if unproven := of.unproven[m.Index]; unproven != (sizing.Amount{}) {
				*m.Of(&applied[i].From) = unproven
			}
		}
		applied[i].Boost = of.boostIn(c.Desired.CPU)
	}
	return applied
}
