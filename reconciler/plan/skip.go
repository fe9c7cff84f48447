package plan

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// scope skips pods that must not be resized, whatever the size.
func (p *Planner) scope(d *draft, s *Snapshot) *verdict {
	if veto := p.vetoed(s); veto != nil {
		return d.skips(decided, veto.Reason, veto.Message)
	}
	return nil
}

// vetoed returns the veto against any size of the pod, except for some reasons; nil if there is none.
func (p *Planner) vetoed(s *Snapshot, except ...contract.Reason) *safety.Veto {
	return safety.Scope(safety.Snapshot{Pod: s.Pod, OwnerKinds: p.OwnerKinds, Frozen: s.Frozen.frozen(), Paused: s.Paused.paused(), VPA: s.VPA}, except...)
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

// await skips a pod that may yet show that its last resize made it worse. After another resize, it would look as if
// the pod had not been ready before.
func (p *Planner) await(d *draft, s *Snapshot) *verdict {
	if d.proof.judgedAt.IsZero() || s.InTheEnd {
		return nil
	}
	return d.skips(stays, contract.AwaitingReadiness, fmt.Sprintf("the pod became unready after its last resize at %s, which is reverted at %s unless the pod is ready by then",
		s.Pod.ResizedAt().UTC().Format(time.RFC3339), d.proof.judgedAt.UTC().Format(time.RFC3339)))
}

// breaker skips pods whose sizing a breaker stops. Reverts and restores pass.
func (p *Planner) breaker(d *draft, s *Snapshot) *verdict {
	if s.Degraded == nil {
		return nil
	}
	if v := d.endsBoosts(contract.Degraded, s.Degraded.degraded()); v != nil {
		return v
	}
	return d.skips(stays, contract.Degraded, s.Degraded.degraded())
}

// schedule skips pods that are resized at other times. Without a time, as in a preview without a cluster, no schedule
// applies.
func (p *Planner) schedule(d *draft, s *Snapshot) *verdict {
	windows := d.rule.profile.Guard.Schedule
	if s.Now.IsZero() || windows.Contains(s.Now) {
		return nil
	}
	opens := windows.Next(s.Now)
	message := "the schedule of the configuration resizes this pod from " + opens.UTC().Format(time.RFC3339)
	var v *verdict
	switch {
	case d.state == changing:
		if v = d.endsBoosts(contract.OutsideSchedule, message); v == nil {
			v = d.skips(stays, contract.OutsideSchedule, message)
		}
	case d.Reasons[0].Code == contract.WaitingForProof:
		v = d.says() // The pods that it waits for are not resized now, either.
		v.because(contract.OutsideSchedule, message)
	default:
		return nil
	}
	v.again = opens
	return v
}

// frozen, paused and degraded say why a freeze, a pause or a breaker stops resizes; empty if there is none.
func (s *Stop) frozen() string {
	if s == nil {
		return ""
	}
	if s.Author != "" {
		return s.since("the cluster was frozen", " by "+s.Author)
	}
	return s.since("the cluster was frozen", "")
}

func (s *Stop) paused() string {
	if s == nil {
		return ""
	}
	return s.since("the pause of "+s.Scope+" began", "")
}

func (s *Stop) degraded() string { return s.since("the breaker of "+s.Scope+" opened", "") }

func (s *Stop) since(what, by string) string {
	return fmt.Sprintf("%s at %s%s: %s", what, s.Since.UTC().Format(time.RFC3339), by, cmp.Or(s.Reason, "no reason given"))
}
