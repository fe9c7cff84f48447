package plan

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// scope skips pods that must not be resized, whatever the size.
func (p *Planner) scope(d *draft, s *Snapshot) *verdict {
	if veto := safety.Scope(safety.Snapshot{Pod: s.Pod, OwnerKinds: p.OwnerKinds, Frozen: s.Frozen.frozen(), Paused: s.Paused.paused(), VPA: s.VPA}); veto != nil {
		return d.skips(decided, veto.Reason, veto.Message)
	}
	return nil
}

// ratio holds pods on nodes without a ratio.
func (p *Planner) ratio(d *draft, s *Snapshot) *verdict {
	node := s.Around.Node
	switch {
	case d.rule.entry != nil:
		return nil
	case d.NodeType != "" && d.NodeTypeLabel == "":
		return d.skips(held, contract.UnknownNodeType, fmt.Sprintf("node type %q has no ratio", d.NodeType))
	case node == nil:
		return d.skips(held, contract.NodeNotFound, fmt.Sprintf("node %s is not known", d.Node))
	case d.NodeType == "":
		lacks, labels := "does not have the label", p.NodeTypes.TellingLabels()
		if len(labels) > 1 {
			lacks = "has none of the labels"
		}
		return d.skips(held, contract.NodeTypeUnlabelled, fmt.Sprintf("node %s %s %s", d.Node, lacks, strings.Join(labels, ", ")))
	}
	return d.skips(held, contract.UnknownNodeType, fmt.Sprintf("node %s has type %q (label %s), which has no ratio", d.Node, d.NodeType, d.NodeTypeLabel))
}

// plausible holds pods whose ratio is not used.
func (p *Planner) plausible(d *draft, _ *Snapshot) *verdict {
	if unused := d.rule.entry.Unused; unused != "" {
		return d.skips(held, contract.ImplausibleRatio, unused)
	}
	return nil
}
