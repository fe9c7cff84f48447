package plan

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Step names a write.
type Step string

const (
	StepOriginals Step = "originals"
	StepResize    Step = "resize"
	StepApplied   Step = "applied"
	// StepRecord combines StepOriginals and StepApplied if there is nothing to resize.
	StepRecord Step = "record"
	// StepInfeasible records what the node refuses for any size, that a refused size is reverted, or
	// what the API server did not accept.
	// StepPutBack reverts the pod to the sizes that its node still has.
	StepInfeasible Step = "infeasible"
	StepPutBack    Step = "putBack"
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
var Steps = []Step{StepOriginals, StepResize, StepApplied, StepRecord, StepInfeasible, StepPutBack, StepReverted, StepRevert, StepRestore, StepClean, StepPreview}

// Write is one request of a plan.
type Write struct {
	Step Step
	// Annotations are the annotations to write, or to remove (nil). Steps that resize or
	// clean have none.
	Annotations map[string]*string
	// Anyhow means that the write applies even if the pod has changed since the previous
	// write: it records what was done, and the kubelet's own update of the pod must not
	// prevent it. All other writes apply only to the pod as it was planned and as the
	// previous writes left it.
	Anyhow bool
}

// Resizes reports whether the step applies the sizes of the plan to the pod.
func (s Step) Resizes() bool {
	return s == StepResize || s == StepPutBack || s == StepRevert || s == StepRestore || s == StepPreview
}

// Writes returns the writes that apply the plan, in order, if it starts now.
//
// The order is the recovery contract:
//
//   - To size a pod: (1) the originals, and the managers whose originals are trusted, (2)
//     the resize, (3) the applied node type, if nothing remains to be done.
//   - To restore a pod: (1) the managers whose originals are trusted, (2) the resize, (3)
//     the removal of all annotations, if the restore is complete.
//   - To revert a size: the record of the node's answer, if it applies to more than these
//     amounts, and of the sizes that are reverted, and then the resize.
//   - To revert a resize that made the pod worse: why, and then the resize. From the first
//     write on, the pod's desired size is the former one.
//
// After any last write, the next plan starts from the originals and continues from there, so
// nothing compounds.
func (p *Plan) Writes(now time.Time) []Write {
	switch {
	case p.Kind == PutBack:
		return writes(Write{Step: StepInfeasible, Annotations: p.refused()}, Write{Step: StepPutBack})
	case p.Kind == Revert && p.Decision != Resize:
		return writes(Write{Step: StepReverted, Annotations: p.reverted(now)})
	case p.Kind == Revert:
		return writes(Write{Step: StepReverted, Annotations: p.reverted(now)}, Write{Step: StepRevert})
	case p.Kind == Restore && p.Decision != Resize:
		return []Write{{Step: StepClean}}
	case p.Kind == Restore && p.keepRecord:
		return writes(Write{Step: StepOriginals, Annotations: p.vouching()}, Write{Step: StepRestore})
	case p.Kind == Restore:
		return writes(Write{Step: StepOriginals, Annotations: p.vouching()}, Write{Step: StepRestore}, Write{Step: StepClean})
	case p.Decision == Align && !p.unrecordedApplied():
		return writes(Write{Step: StepInfeasible, Annotations: p.infeasible()})
	case p.Decision == Align:
		applied, step := p.record(now), StepApplied
		for key, value := range p.unrecorded(now) {
			applied[key], step = value, StepRecord
		}
		return writes(Write{Step: StepInfeasible, Annotations: p.infeasible()}, Write{Step: step, Annotations: applied})
	}
	applied := p.notAdopted() // A partial plan does not record the node type.
	if p.Partial == "" {
		applied = p.record(now)
	} else {
		p.recordSizes(applied)
		if p.failed != nil {
			applied[contract.Infeasible] = nil
		}
	}
	return writes(Write{Step: StepOriginals, Annotations: p.unrecorded(now)}, Write{Step: StepResize}, Write{Step: StepApplied, Annotations: applied, Anyhow: true})
}

// writes leaves out writes without any effect.
func writes(all ...Write) []Write {
	var needed []Write
	for _, w := range all {
		if w.Step.Resizes() || w.Step == StepClean || len(w.Annotations) > 0 {
			needed = append(needed, w)
		}
	}
	return needed
}

// refused returns the annotations with the node's answer, and with the record of the sizes that
// are reverted; nil if they need not be written.
func (p *Plan) refused() map[string]*string {
	annotations := p.infeasible()
	if p.recounted != "" {
		if annotations == nil {
			annotations = map[string]*string{}
		}
		annotations[contract.AppliedSizes] = &p.recounted
	}
	return annotations
}

// infeasible returns the annotation with the node's answer, or without a failure that no longer
// counts; nil if it need not be written.
func (p *Plan) infeasible() map[string]*string {
	switch {
	case p.noteInfeasible != "":
		return map[string]*string{contract.Infeasible: &p.noteInfeasible}
	case p.failed != nil:
		return map[string]*string{contract.Infeasible: nil}
	}
	return nil
}
