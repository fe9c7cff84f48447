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
	// StepRecord is StepOriginals and StepApplied in one, where there is nothing to resize.
	StepRecord Step = "record"
	// StepInfeasible records what the node refuses whatever the amounts are, and
	// StepPutBack is a resize to what it has set aside.
	StepInfeasible Step = "infeasible"
	StepPutBack    Step = "putBack"
	// StepRestore is a resize to the originals, StepClean the removal of what
	// tells of us.
	StepRestore Step = "restore"
	StepClean   Step = "clean"
	// StepPreview asks what the API server would say of a resize, and writes nothing.
	StepPreview Step = "preview"
)

// Steps are all of them.
var Steps = []Step{StepOriginals, StepResize, StepApplied, StepRecord, StepInfeasible, StepPutBack, StepRestore, StepClean, StepPreview}

// Write is one request that a plan consists of.
type Write struct {
	Step Step
	// Annotations are to be written, or removed (nil); none by a step that resizes or
	// cleans.
	Annotations map[string]*string
	// Anyhow says that the write holds whatever has become of the pod since the write
	// before: it states what was done, and the kubelet's own update of the pod must not
	// prevent it. All others hold only for the pod as it was planned, and as the writes
	// before have left it.
	Anyhow bool
}

// Resizes reports whether the step gives the pod the sizes of the plan.
func (s Step) Resizes() bool {
	return s == StepResize || s == StepPutBack || s == StepRestore || s == StepPreview
}

// Writes lists what carries out a plan that begins to be carried out now, in order.
//
// The order is the recovery contract: (1) originals, and whose word on them counts,
// (2) resize, (3) applied, if nothing is left to be done; of a restore, resize and then
// the removal of all annotations, if it is whole; of what a node refuses, the record of
// its words, if they are about more than these amounts, and then the resize that puts
// back. Whatever was written last, the next plan starts from the originals and goes on
// from there, so that nothing compounds.
func (p *Plan) Writes(now time.Time) []Write {
	switch {
	case p.Kind == PutBack:
		return writes(Write{Step: StepInfeasible, Annotations: p.infeasible()}, Write{Step: StepPutBack})
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
	applied := p.notAdopted() // A part of what the node needs is not all of it.
	if p.Partial == "" {
		applied = p.record(now)
	}
	return writes(Write{Step: StepOriginals, Annotations: p.unrecorded(now)}, Write{Step: StepResize}, Write{Step: StepApplied, Annotations: applied, Anyhow: true})
}

// writes leaves out what would write no annotations.
func writes(all ...Write) []Write {
	var needed []Write
	for _, w := range all {
		if w.Step.Resizes() || w.Step == StepClean || len(w.Annotations) > 0 {
			needed = append(needed, w)
		}
	}
	return needed
}

// infeasible is the annotation with what the node refuses; nil if it need not be written.
func (p *Plan) infeasible() map[string]*string {
	if p.noteInfeasible == "" {
		return nil
	}
	return map[string]*string{contract.Infeasible: &p.noteInfeasible}
}
