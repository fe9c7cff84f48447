package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// verdict is what a stage says about a draft; nil lets it pass.
type verdict struct {
	// skip skips the pod for a reason, which replaces all others.
	skip Reason
	// next is the state of the draft after the stage; zero if it stays, or stays open. decision is the decision if that
	// is decided.
	next     state
	decision Decision
	// kind is the purpose of the plan from now on, unless it is Sizes.
	kind Kind
	// sets are the sizes that the stage gives to resources.
	sets []Derived
	// reasons are added, or replace all others if they are alone. first comes before all others.
	reasons []Reason
	alone   bool
	first   Reason
	// rest means that the pod is skipped because the rest of its sizes wait: reasons why others stay are kept.
	rest bool
	// vetoed, partial and without are as in Plan, unless they are empty. claims replace those of the plan, unless
	// they are nil.
	vetoed  bool
	partial contract.Reason
	without []string
	claims  []workload.Claim
	// blockedBy is as in Plan, unless it is empty.
	blockedBy contract.Reason
	// again is when to plan the pod again at the latest; zero for no time.
	again time.Time
	// What single stages find out for later ones.
	claimed         []claimed
	keep            *keeping
	proof           *proof
	tested          []tested
	boosts          []boostTo
	restore         *restoring
	note, recounted string
	wanted          *Asked
	blocked         *blockedRevert
	// becomes replaces the whole plan, and what is known of its containers.
	becomes *draft
}

// because adds a reason to the verdict.
func (v *verdict) because(code contract.Reason, message string) {
	v.reasons = append(v.reasons, Reason{code, message})
}

// derives adds a size for a resource, which the caller completes.
func (v *verdict) derives(container int, m *sizing.Measure) *Derived {
	v.sets = append(v.sets, Derived{})
	derived := &v.sets[len(v.sets)-1]
	derived.Container, derived.Measure = container, m
	return derived
}

// says returns an empty verdict for the stage that judges now. The draft is done with it before the next stage.
func (d *draft) says() *verdict {
	if d.spoke {
		*d.scratch, d.spoke = verdict{}, false
	}
	return d.scratch
}

// skips returns the verdict of a stage that skips the pod.
func (d *draft) skips(next state, code contract.Reason, message string) *verdict {
	v := d.says()
	v.skip, v.next = Reason{code, message}, next
	return v
}

// apply changes the draft as a stage says.
func (d *draft) apply(stage string, v *verdict) {
	d.spoke = true
	if v.becomes != nil {
		*d.Plan, d.parts = *v.becomes.Plan, v.becomes.parts
		d.replanAt(v.again)
		return
	}
	for i := range v.claimed {
		d.claim(&v.claimed[i])
	}
	d.set(stage, v.sets)
	if d.state == held && v.kind == Revert {
		d.Vetoed = false // Nothing prevents the revert.
	}
	d.Vetoed = d.Vetoed || v.vetoed
	before := d.Reasons
	if v.skip.Code != "" {
		d.skip(v.skip)
	}
	if v.alone {
		d.Reasons = nil
	}
	for _, r := range v.reasons {
		d.addReason(r)
	}
	if v.rest {
		for _, r := range before {
			if r.Code.Traits().Stays && r.Code != contract.WaitingForProof { // A step is not made now.
				d.addReason(r)
			}
		}
	}
	if v.first.Code != "" {
		d.Reasons = slices.Insert(d.Reasons, 0, v.first)
	}
	if v.next != 0 {
		d.state = v.next
	}
	if v.next == decided {
		d.Decision = v.decision
	}
	if v.kind != Sizes {
		d.Kind = v.kind
	}
	if v.partial != "" {
		d.Partial, d.without = v.partial, v.without
	}
	if v.blockedBy != "" {
		d.blockedBy = v.blockedBy
	}
	if v.claims != nil {
		d.Claims = v.claims
	}
	d.replanAt(v.again)
	d.learn(v)
	switch {
	case d.state&open == 0:
	case d.differs():
		d.state = changing
	default:
		d.state = aligned
	}
}

// learn notes what single stages found out.
func (d *draft) learn(v *verdict) {
	if v.keep != nil {
		d.keep = *v.keep
	}
	if v.proof != nil {
		d.proof = *v.proof
	}
	for i := range v.tested {
		d.parts[i].tested = v.tested[i]
	}
	for _, b := range v.boosts {
		d.parts[b.container].boost = b.to
	}
	if v.restore != nil {
		d.restore = *v.restore
	}
	if v.note != "" {
		d.note = v.note
	}
	if v.recounted != "" {
		d.recounted = v.recounted
	}
	if v.wanted != nil {
		d.Wanted = v.wanted
	}
	if v.blocked != nil {
		d.blocked = v.blocked
	}
}

// set gives resources their sizes.
func (d *draft) set(stage string, sets []Derived) {
	for i := range sets {
		to := &sets[i]
		to.Stage = stage
		d.parts[to.Container].derived[to.Measure.Index] = int32(len(d.Derivation) + i + 1)
		*to.Measure.Of(&d.Containers[to.Container].Desired) = to.To
	}
	d.Derivation = append(d.Derivation, sets...)
}

// Reason is a reason with its details.
type Reason struct {
	Code    contract.Reason
	Message string
}

// withheld reports whether part of the pod does not get its desired size.
func (p *Plan) withheld() bool {
	return slices.ContainsFunc(p.Reasons, func(r Reason) bool { return r.Code.Traits().Part })
}

// mostOfAReason is the maximum length of a reason in bytes before it ends with andMore.
// Reasons appear in events, logs and responses, and a pod may have a thousand containers.
const (
	mostOfAReason = 4096
	separator     = "; "
	andMore       = separator + "and more"
)

// because adds a reason. Each code has one reason with the details of all containers.
func (p *Plan) because(code contract.Reason, message string) { p.addReason(Reason{code, message}) }

// addReason is like because.
func (p *Plan) addReason(more Reason) {
	more.Message = bounded(more.Message)
	for i := range p.Reasons {
		r := &p.Reasons[i]
		switch {
		case r.Code != more.Code:
			continue
		case strings.HasSuffix(r.Message, andMore):
		case len(r.Message)+len(separator)+len(more.Message) <= mostOfAReason:
			r.Message += separator + more.Message
		default:
			r.Message += andMore
		}
		return
	}
	p.Reasons = append(p.Reasons, more)
}

// bounded returns a message up to the maximum length of a reason. Bounded again, it is the same.
func bounded(message string) string {
	if len(message) > mostOfAReason+len(andMore) || len(message) > mostOfAReason && !strings.HasSuffix(message, andMore) {
		return strings.ToValidUTF8(message[:mostOfAReason], "") + andMore
	}
	return message
}

// merged returns reasons with the same code as one.
func merged(reasons []Reason) Reason {
	var p Plan
	for _, r := range reasons {
		p.addReason(r)
	}
	return p.Reasons[0]
}

// joined joins the texts with separators, up to the maximum length of a reason.
func joined(texts []string, by string) string {
	bytes := 0
	for i, text := range texts {
		if bytes += len(by) + len(text); i > 0 && bytes > mostOfAReason {
			return strings.Join(texts[:i], by) + andMore
		}
	}
	return strings.Join(texts, by)
}
