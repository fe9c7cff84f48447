package reconciler

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// record notes that an original is to be written.
func (c *ContainerPlan) record(which contract.Original) { c.unrecorded |= 1 << which }

// unrecorded are the annotations with originals that the pod lacks, or that are
// wrong, and whose originals count; nil if there are none.
func (p *Plan) unrecorded() map[string]*string {
	annotations := p.vouching()
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, which := range contract.Originals {
			amount, text := amountOf(&c.Original, which)
			if c.unrecorded&(1<<which) == 0 || amount == 0 {
				continue
			}
			if annotations == nil {
				annotations = map[string]*string{}
			}
			annotations[which.Key(c.Name)] = &text
		}
	}
	return annotations
}

// vouching is the annotation that says whose originals count, before nothing else says
// so; nil if it need not be written.
func (p *Plan) vouching() map[string]*string {
	if p.vouches == "" {
		return nil
	}
	return map[string]*string{contract.OriginalsBy: &p.vouches}
}

// record is the annotations that say what was applied at a time, and what of
// somebody else's was adopted; nil removes one that says so no longer.
func (p *Plan) record(now time.Time) map[string]*string {
	annotations := map[string]*string{
		contract.AppliedInstanceType: &p.NodeType,
		contract.AppliedAt:           new(now.UTC().Format(time.RFC3339)),
	}
	if p.feasible {
		annotations[contract.Infeasible] = nil
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, which := range contract.Originals {
			key := which.AdoptedKey(c.Name)
			switch present, text := amountOf(&c.Current, which); {
			case c.adopts&(1<<which) != 0:
				annotations[key] = &text
				annotations[contract.AdoptedAt] = annotations[contract.AppliedAt]
			case c.outdated&(1<<which) != 0:
				annotations[key] = nil
			case c.adopted(which):
				if desired, _ := amountOf(&c.Desired, which); desired != present {
					annotations[key] = nil
				}
			}
		}
	}
	return annotations
}
