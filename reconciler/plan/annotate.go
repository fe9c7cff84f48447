package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// lacksAnnotations reports whether the annotations of an aligned pod must be updated. A pod with a lost original
// must not look as if the original were known.
func (d *draft) lacksAnnotations() bool {
	return d.applied != d.NodeType && !d.keep.lost && !d.hasBoostByChance() || d.lacksMoreThanType()
}

// lacksMoreThanType reports whether the annotations lack more than the node type.
func (d *draft) lacksMoreThanType() bool {
	changed := uint8(0) // The record of adopted sizes must change.
	for i := range d.parts {
		changed |= d.parts[i].adopts | d.parts[i].outdated
	}
	return d.keep.corrected || d.proof.unannotatedSizes || d.lacksDemand() || d.forgetsBoost() || changed != 0
}

// annotateOriginals returns the action that annotates a pod before its sizes change: with missing or wrong originals,
// the adopted amounts that originals come from, and the managers whose originals are trusted.
func (d *draft) annotateOriginals(step Step) Action {
	a := Action{Step: step, Annotations: d.vouching()}
	set := func(key, text string) {
		if a.Annotations == nil {
			a.Annotations = map[string]*string{}
		}
		a.Annotations[key] = &text
	}
	for i := range d.Containers {
		c, has := &d.Containers[i], &d.parts[i]
		for _, which := range contract.Originals {
			amount, adopted, m := c.Original.Amount(which), c.Current.Amount(which), sizing.MeasureOf(which)
			original, lowered := has.of.Raised(which)
			if lowered != 0 {
				amount, adopted = original, lowered
			}
			if amount != 0 && has.takesOver&^has.unannotated&(1<<which) != 0 {
				set(which.Key(c.Name), inOtherWords(m, amount, has.of.TextOf(which)))
			}
			if amount == 0 || has.unannotated&(1<<which) == 0 {
				continue
			}
			set(which.Key(c.Name), ourWords(m, amount, has.of.TextOf(which)))
			if has.adopts&(1<<which) != 0 {
				set(which.AdoptedKey(c.Name), ourWords(m, adopted, has.of.AdoptedTextOf(which)))
				if lowered == 0 {
					a.stamps = []string{contract.AdoptedAt}
				}
			}
		}
	}
	return a
}

// ourWords returns the text of an amount, spelled differently from the text that another
// manager wrote.
func ourWords(m *sizing.Measure, amount int64, there string) string {
	if text := m.Text(amount); text != there {
		return text
	}
	return inOtherWords(m, amount, there)
}

// inOtherWords returns an amount in a different spelling than the existing text: a manager
// that writes the same text does not become the owner of an annotation.
func inOtherWords(m *sizing.Measure, amount int64, text string) string {
	words := []string{sizing.MemoryText(amount), strconv.FormatInt(amount, 10), fmt.Sprintf("%d.0", amount)}
	if m == sizing.CPU {
		words = []string{sizing.CPUText(amount), fmt.Sprintf("%dm", amount), fmt.Sprintf("%d.%03d", amount/1000, amount%1000)}
	}
	return words[slices.IndexFunc(words, func(other string) bool { return other != text })]
}

// vouching returns the annotation with the managers whose originals are trusted, to write
// while managedFields still prove it; nil if it need not be written.
func (d *draft) vouching() map[string]*string {
	if d.keep.vouches == "" {
		return nil
	}
	return map[string]*string{contract.OriginalsBy: &d.keep.vouches}
}

// annotateApplied returns the action that annotates a pod with what was applied. It removes (nil)
// outdated records of adopted amounts and an outdated answer of the node.
func (d *draft) annotateApplied() Action {
	annotations := map[string]*string{contract.AppliedInstanceType: &d.NodeType}
	if d.outdated && d.note == "" {
		annotations[contract.Infeasible] = nil
	}
	maps.Copy(annotations, d.notAdopted())
	d.annotateSizes(annotations)
	return Action{Annotations: annotations, stamps: []string{contract.AppliedAt}}
}

// notAdopted returns the annotations to remove: records of adopted amounts that are
// outdated or that the plan changes. If they stayed, an amount that another actor later
// sets to the same value would count as adopted.
func (d *draft) notAdopted() map[string]*string {
	annotations := map[string]*string{}
	for i := range d.Containers {
		c, has := &d.Containers[i], &d.parts[i]
		adopted := has.standings[sizing.CPU.Index].Adopted | has.standings[sizing.Memory.Index].Adopted
		for _, which := range contract.Originals {
			outdated := has.outdated&^has.adopts&(1<<which) != 0
			if taken := (adopted|has.of.Returned())&(1<<which) != 0 && c.Desired.Amount(which) != c.Current.Amount(which); outdated || taken {
				annotations[which.AdoptedKey(c.Name)] = nil
			}
		}
	}
	return annotations
}

// misranked says that the rank in the annotation of a pod that may be evicted is invalid; empty if it is not.
func misranked(s *Snapshot) string {
	rank, has := s.Pod.Annotation(contract.EvictionRank)
	if !has || slices.Contains(policy.EvictionRanks, rank) || !s.Table.Profile(s.Pod).Eviction.Enabled {
		return ""
	}
	return fmt.Sprintf("%s must be one of %s, not %.64q, so the pod is not evicted", contract.EvictionRank, strings.Join(policy.EvictionRanks, ", "), rank)
}

// originals checks what the pod records about its originals.
func (p *Planner) originals(d *draft, s *Snapshot) *verdict {
	v := d.says()
	found := keeping{vouches: vouching(d, s.Pod)}
	for i := range d.parts {
		for _, message := range d.parts[i].of.Ignored() {
			v.because(contract.AnnotationIgnored, message)
			found.corrected = true
		}
	}
	unranked := misranked(s)
	if unranked != "" {
		v.because(contract.AnnotationIgnored, unranked)
	}
	if found != (keeping{}) {
		kept := found // Only a copy escapes to the heap.
		v.keep = &kept
		return v
	}
	if unranked != "" {
		return v
	}
	return nil
}

// vouching returns the managers whose originals are trusted, to write while managedFields still prove it; empty
// if they need not be written.
func vouching(d *draft, of *pod.Pod) string {
	var predecessors []string
	for i := range d.parts {
		predecessors = append(predecessors, d.parts[i].of.Predecessors()...)
	}
	if len(predecessors) == 0 {
		return ""
	}
	if of.OriginalsBy() != "" {
		predecessors = append(predecessors, of.OriginalsBy())
	}
	slices.Sort(predecessors)
	return strings.Join(slices.Compact(predecessors), ",")
}

// annotateDemand adds the annotation that records what containers need according to usage, if the sizes come from that.
// A resource that the plan does not change keeps its record.
func (d *draft) annotateDemand(annotations map[string]*string) {
	before := d.of.AppliedDemand()
	var now pod.AppliedDemand
	for i := range d.Containers {
		c := &d.Containers[i]
		was, is := before.Of(c.Name), pod.ContainerDemand{Name: c.Name}
		for _, m := range sizing.Measures {
			n, stays := &c.Needs[m.Index], *m.Of(&c.Desired) == *m.Of(&c.Current)
			kept := stays
			if last := d.last(i, m); last != nil {
				kept = kept || last.Cause == ByDemand || last.Cause == ByBoost
			}
			size := *m.Of(&c.Desired)
			if d.creating {
				size = d.withoutItsBoost(i, m)
			}
			switch amount := d.meets(c, m, size); {
			case amount != 0:
				is.Amounts[m.Index] = amount
			case kept && d.keepsDemand(), stays && (c.Unmeasured[m.Index] && n.Withheld == "" || n.Recommended != nil):
				is.Amounts[m.Index] = was.Amounts[m.Index]
			case d.creating && n.Recommended != nil && d.follows(i, m):
				// There may have been room for a part of it, or only the limit follows it.
				is.Amounts[m.Index] = n.Request(m, d.guaranteed())
				if size != *m.Of(&c.Desired) { // Nothing else tells later what it had without its boost.
					is.Amounts[m.Index] = d.factor(m).Inverse().Up(size.Request)
				}
			}
		}
		if is.Amounts != [2]int64{} {
			now = append(now, is)
		}
	}
	switch text := now.String(); {
	case text != "":
		annotations[contract.AppliedDemand] = &text
	case before != nil:
		annotations[contract.AppliedDemand] = nil
	}
}

// follows reports whether the desired size of a resource, or the one before a boost, is neither the present one nor what its
// author wrote, scaled for the node.
func (d *draft) follows(i int, m *sizing.Measure) bool {
	c := &d.Containers[i]
	to, has := d.withoutItsBoost(i, m), *m.Of(&c.Current)
	n := need.Need{Authored: c.Needs[m.Index].Authored, Bounds: c.Needs[m.Index].Bounds}
	authored, _ := n.On(m, d.factor(m), d.guaranteed())
	return to != has && to != authored
}

// withoutItsBoost returns the desired size of a resource, or what it would be without the boost that it gets.
func (d *draft) withoutItsBoost(i int, m *sizing.Measure) sizing.Amount {
	to := *m.Of(&d.Containers[i].Desired)
	if m == sizing.CPU && to == d.parts[i].boost {
		return d.beforeBoost(i).To
	}
	return to
}

// lacksDemand reports whether the annotations still say what the containers need according to usage, although the sizes of the
// pod no longer come from that: what its author wrote may lead to the same sizes. The record of its creation stays.
func (d *draft) lacksDemand() bool {
	return !d.FollowsUsage && d.of.HasAppliedDemand() && !d.of.SizedAtCreation() && !d.keepsDemand()
}
