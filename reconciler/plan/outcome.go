package plan

import (
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Outcome is what is said of a plan that was carried out.
func (p *Plan) Outcome() []Reason {
	if p.Kind == PutBack {
		return p.Reasons[:1]
	}
	var said []Reason
	switch {
	case p.Kind == Restore && !p.keepRecord:
		said = []Reason{{contract.Restored, "what its author asked for: " + p.Describe()}}
	case p.Kind == Sizes && (p.Decision == Resize || p.resized()):
		text := "for node type " + p.NodeType + " (requests are written for " + p.Baseline + "): " + p.Describe()
		if len(p.without) > 0 {
			text += "; not yet: " + strings.Join(p.without, ", ")
		}
		if settled := p.settled(); len(settled) > 0 {
			text += "; " + strings.Join(settled, "; ")
		}
		said = []Reason{{contract.Resized, text}}
	}
	for _, reason := range p.Reasons {
		told := len(said) > 0 && (reason.Code == said[0].Code || reason.Code == contract.AlreadyAligned)
		// What the node makes of it is told as it goes, and what is still to be given
		// when the pod is left alone for it.
		if !told && Urgency(reason.Code) == 0 && reason.Code != p.Partial {
			said = append(said, reason)
		}
	}
	return said
}

// Deed is what was done to the pod, as the log has it.
func (p *Plan) Deed(said []Reason) string {
	switch {
	case p.Kind == PutBack:
		return "Pod put back"
	case len(said) > 0 && said[0].Code == contract.Restored:
		return "Pod restored"
	case p.Decision == Resize || len(said) > 0 && said[0].Code == contract.Resized:
		return "Pod resized"
	}
	return "Pod recorded"
}
