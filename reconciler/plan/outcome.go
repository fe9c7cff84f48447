package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Outcome returns the reasons to report after a plan was applied.
func (p *Plan) Outcome() []Reason {
	switch {
	case p.Kind == Revert && (p.Decision == Align || p.causedBy(ByRevert)), p.Kind == RevertRefused:
		return p.Reasons[:1]
	case p.Kind == Revert && p.causedBy(ByCompletion):
		return []Reason{{contract.Resized, p.Reasons[0].Message}}
	case p.Kind == Revert:
		return nil // The revert was reported, and must not count again.
	case p.Kind == Sizes && p.Decision == Align && !p.does(StepApplied) && !p.does(StepRecord):
		return nil // Only the node's answer was recorded.
	}
	var said []Reason
	switch {
	case p.Kind == Restore && p.does(StepClean):
		said = []Reason{{contract.Restored, "the pod has its originals again" + p.inEmergency() + ": " + p.Describe()}}
	case p.Kind == Sizes && (p.Decision == Resize || p.resized()):
		text := p.Describe()
		if p.NodeType != "" {
			text = "for node type " + p.NodeType + " (" + p.basedOn() + "): " + text
		}
		if demands := p.Demands(); demands != "" {
			text += "; demand from usage: " + demands
		}
		if boosts := p.boosts(); boosts != "" {
			text += "; " + boosts
		}
		if len(p.without) > 0 {
			text += "; not yet resized: " + joined(p.without, ", ")
		}
		if others := p.othersSizes(); len(others) > 0 {
			text += "; " + joined(others, "; ")
		}
		said = []Reason{{contract.Resized, text}}
	}
	for _, reason := range p.Reasons {
		told := len(said) > 0 && (reason.Code == said[0].Code || reason.Code == contract.AlreadyAligned)
		// Three reasons are reported elsewhere: the node's progress and reverts, as they
		// happen, and the reason for a partial plan, once the pod is skipped
		// for it.
		if !told && reason.Code.Traits().Urgency == 0 && reason.Code != p.Partial && reason.Code != contract.Reverted {
			said = append(said, reason)
		}
	}
	return said
}

// AtCreation is the outcome for a pod that got its sizes while it was being created, and needs no others.
func (p *Plan) AtCreation(of *pod.Pod) Reason {
	nodeType, _ := of.Applied() // It may have landed on a node of another type.
	text := "at its creation, for node type " + cmp.Or(nodeType, p.NodeType) + " (" + p.basedOn() + "): " + p.Describe()
	if demand := of.AppliedDemand(); demand != nil {
		text += "; demand from usage: " + demand.String()
	}
	if boosts := p.boosts(); boosts != "" {
		text += "; " + boosts
	}
	return Reason{contract.Resized, text}
}

// basedOn says what the sizes come from.
func (p *Plan) basedOn() string {
	for i := range p.Containers {
		if c := &p.Containers[i]; c.recommended() || c.kept != [2]int64{} {
			return "demand is in units of " + p.Baseline
		}
	}
	return "requests are written for " + p.Baseline
}

// does reports whether the plan has an action with the step.
func (p *Plan) does(step Step) bool {
	return slices.ContainsFunc(p.Actions(), func(a Action) bool { return a.Step == step })
}

// Harms returns how the resizes that the plan reverts made the pod worse, each kind once.
func (p *Plan) Harms() (harms []contract.Harm) {
	for i := range p.Derivation {
		derived := &p.Derivation[i]
		if p.Decision != Resize || derived.Cause != ByRevert || !p.takes(derived) {
			continue
		}
		if !slices.Contains(harms, *derived.Harm) {
			harms = append(harms, *derived.Harm)
		}
	}
	return harms
}

// takes reports whether a resource has the derived size in the end, and did not have it before.
func (p *Plan) takes(derived *Derived) bool {
	c := &p.Containers[derived.Container]
	to := *derived.Measure.Of(&c.Desired)
	return derived.To == to && to != *derived.Measure.Of(&c.Current)
}

// Deed returns the log message for what was done to the pod.
func (p *Plan) Deed(said []Reason) string {
	switch {
	case p.Kind == RevertRefused, p.Kind == Revert && p.Decision == Resize:
		return "Pod reverted"
	case len(said) > 0 && said[0].Code == contract.Restored:
		return "Pod restored"
	case p.Decision == Resize || len(said) > 0 && said[0].Code == contract.Resized:
		return "Pod resized"
	}
	return "Pod annotated"
}

// Describe returns the changes to the containers in one line, e.g. "app: cpu 1 → 800m,
// memory 1Gi". The limit of a request that stays is shown if it changes: "memory 1Gi/2Gi → 1Gi/3Gi".
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
		if b.Len() > mostOfAReason {
			b.WriteString(andMore)
			break
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.Name)
		b.WriteByte(':')
		describeAmount(&b, sizing.CPU, from.CPU, c.Desired.CPU)
		if from.CPU.Request > 0 && from.Memory.Request > 0 {
			b.WriteByte(',')
		}
		describeAmount(&b, sizing.Memory, from.Memory, c.Desired.Memory)
	}
	return b.String()
}

func describeAmount(b *strings.Builder, m *sizing.Measure, from, to sizing.Amount) {
	if from.Request == 0 {
		return
	}
	text := func(a sizing.Amount) string { return m.Text(a.Request) }
	if to.Request == from.Request && to.Limit != from.Limit {
		text = m.Show
	}
	b.WriteString(" " + m.Name + " " + text(from))
	if to != from && text(to) != text(from) {
		b.WriteString(" → " + text(to))
	}
}
