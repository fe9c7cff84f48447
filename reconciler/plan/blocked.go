package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// decideRevert decides on a plan that reverts resizes. If not all can be reverted, the reason is only about those
// that are.
func (p *Plan) decideRevert(s *Snapshot, now progress) {
	full, said := slices.Clone(p.Containers), p.Reasons
	veto := p.agree(s, now)
	if veto == nil && p.Partial == "" {
		p.Decision = Resize
		return
	}
	var texts []string
	completes := false
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, m := range sizing.Measures {
			if has, to := *m.Of(&c.Current), *m.Of(&c.Desired); c.reverting[m.Index] && to != has {
				texts = append(texts, c.why[m.Index])
				completes = completes || to.Request > has.Request && to != pushed(has, m)
			}
		}
	}
	if veto == nil && len(texts) > 0 {
		p.Decision = Resize
		p.undoes, p.completes = len(p.Harms()) > 0, p.completes && completes
		p.Reasons = append([]Reason{{contract.Reverted, joined(texts, "; ")}}, p.Reasons[1:]...)
		return
	}
	p.Containers, p.Reasons, p.Partial, p.without = full, said, "", nil
	if veto == nil {
		veto, _ = p.objection(s, now) // Otherwise, the plan would only take back what the node has not made.
	}
	p.block(veto, s, now)
}

// eases reports whether the plan raises each size that a blocked plan would revert, and lowers none.
func (p *Plan) eases(blocked *Plan) bool {
	for i := range p.Containers {
		for _, m := range sizing.Measures {
			has, to := *m.Of(&p.Containers[i].Current), *m.Of(&p.Containers[i].Desired)
			if guard.Lowers(has, to) || to == has && blocked.Containers[i].reverting[m.Index] {
				return false
			}
		}
	}
	return p.Kind == Sizes && p.Decision == Resize
}

// blockedFor is how long a blocked revert waits at most: what blocks it may end without notice.
const blockedFor = time.Minute

// block turns a revert with a veto into one of limits alone if that is enough. Otherwise, the plan at least
// records what was found, or skips the pod if that was recorded.
func (p *Plan) block(veto *safety.Veto, s *Snapshot, now progress) {
	if p.revertLimits(veto, s, now) {
		p.Decision = Resize
		return
	}
	reason := Reason{contract.RevertBlocked, veto.Message + "; not reverted: " + p.Reasons[0].Message}
	p.Skip(&safety.Veto{Reason: reason.Code, Message: reason.Message})
	p.Vetoed = true
	p.replanAt(s.Now.Add(blockedFor))
	if len(p.reverts) > 0 {
		p.Decision = Align
	}
}

// revertLimits reverts only the limits that made the pod worse, which needs no room on its node, and reports whether
// there are any. Later plans complete the revert.
func (p *Plan) revertLimits(veto *safety.Veto, s *Snapshot, now progress) bool {
	full, texts := slices.Clone(p.Containers), []string(nil)
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, m := range sizing.Measures {
			has, to := *m.Of(&c.Current), m.Of(&c.Desired)
			if !c.reverting[m.Index] {
				continue // It stays, or the node gets what it has not made of it.
			}
			r, back := p.revertOf(c.Name, m), *to
			switch {
			case r == nil || has != r.Hurt:
				*to = has
			case back.Request <= has.Request:
				texts = append(texts, asBefore(c.Name, m, has, back, r.Message, r.Harm))
			case guard.ByLimit(r.Harm) && back.Limit > has.Limit:
				to.Request = has.Request
				texts = append(texts, fmt.Sprintf("container %s: %s %s → %s, only the limit as before the resize (%s): %s (%s); the request stays: %s",
					c.Name, m.Name, m.Show(has), m.Show(*to), m.Show(back), r.Message, r.Harm, veto.Message))
			default:
				*to = has
			}
		}
	}
	if len(texts) > 0 {
		if still, _ := p.objection(s, now); still == nil {
			p.Reasons = []Reason{{contract.Reverted, joined(texts, "; ")}}
			return true
		}
	}
	p.Containers = full
	return false
}
