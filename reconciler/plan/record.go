package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// noteOriginal notes that an original must be written.
func (c *ContainerPlan) noteOriginal(which contract.Original) { c.unrecorded |= 1 << which }

// unrecorded returns the annotations to write before sizes change: missing or wrong originals,
// the adopted amounts that originals come from, and the managers whose originals are trusted;
// nil if there are none.
func (p *Plan) unrecorded(now time.Time) map[string]*string {
	annotations := p.vouching()
	set := func(key, text string) {
		if annotations == nil {
			annotations = map[string]*string{}
		}
		annotations[key] = &text
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, which := range contract.Originals {
			amount, text := amountOf(&c.Original, which)
			if amount != 0 && c.takesOver&^c.unrecorded&(1<<which) != 0 {
				set(which.Key(c.Name), inOtherWords(which, amount, c.of.TextOf(which)))
			}
			if amount == 0 || c.unrecorded&(1<<which) == 0 {
				continue
			}
			set(which.Key(c.Name), ourWords(which, amount, text, c.of.TextOf(which)))
			if c.adopts&(1<<which) != 0 {
				present, text := amountOf(&c.Current, which)
				set(which.AdoptedKey(c.Name), ourWords(which, present, text, c.of.AdoptedTextOf(which)))
				set(contract.AdoptedAt, now.UTC().Format(time.RFC3339))
			}
		}
	}
	return annotations
}

// ourWords returns the text of an amount, spelled differently from the text that another
// manager wrote.
func ourWords(which contract.Original, amount int64, text, there string) string {
	if text == there {
		return inOtherWords(which, amount, there)
	}
	return text
}

// inOtherWords returns an amount in a different spelling than the existing text: a manager
// that writes the same text does not become the owner of an annotation.
func inOtherWords(which contract.Original, amount int64, text string) string {
	words := []string{sizing.MemoryText(amount), strconv.FormatInt(amount, 10), fmt.Sprintf("%d.0", amount)}
	if which < contract.MemoryRequest {
		words = []string{sizing.CPUText(amount), fmt.Sprintf("%dm", amount), fmt.Sprintf("%d.%03d", amount/1000, amount%1000)}
	}
	return words[slices.IndexFunc(words, func(other string) bool { return other != text })]
}

// vouching returns the annotation with the managers whose originals are trusted, to write
// while managedFields still prove it; nil if it need not be written.
func (p *Plan) vouching() map[string]*string {
	if p.vouches == "" {
		return nil
	}
	return map[string]*string{contract.OriginalsBy: &p.vouches}
}

// record returns the annotations that record what was applied at a time. It removes (nil)
// outdated records of adopted amounts and an outdated answer of the node.
func (p *Plan) record(now time.Time) map[string]*string {
	annotations := map[string]*string{
		contract.AppliedInstanceType: &p.NodeType,
		contract.AppliedAt:           new(now.UTC().Format(time.RFC3339)),
	}
	if p.dropInfeasible && p.noteInfeasible == "" {
		annotations[contract.Infeasible] = nil
	}
	maps.Copy(annotations, p.notAdopted())
	p.recordSizes(annotations)
	return annotations
}

// notAdopted returns the annotations to remove: records of adopted amounts that are
// outdated or that the plan changes. If they stayed, an amount that another actor later
// sets to the same value would count as adopted.
func (p *Plan) notAdopted() map[string]*string {
	annotations := map[string]*string{}
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, which := range contract.Originals {
			present, _ := amountOf(&c.Current, which)
			wanted, _ := amountOf(&c.Desired, which)
			outdated := c.outdated&^c.adopts&(1<<which) != 0
			if taken := c.adopted()&(1<<which) != 0 && wanted != present; outdated || taken {
				annotations[which.AdoptedKey(c.Name)] = nil
			}
		}
	}
	return annotations
}
