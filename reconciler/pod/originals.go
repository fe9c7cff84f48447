package pod

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// originals determines what the author of a pod requested, separately for each request and
// limit, by who set it last. The original of an amount as created is the spec, regardless
// of annotations. The original of an amount that we set is the annotation, if the writer of
// the annotation could know it.
type originals struct {
	annotations map[string]string
	history     *history
	// sized means that the pod was sized before. An amount whose setter is unknown is then
	// not an original, even if all annotations are gone.
	sized bool
	// made is what the server did while the pod was being created, of which the record of managers knows nothing.
	made *admitted
	// raisers are the controllers that raise cpu until the pod has started; nil if there are none.
	raisers *raisers
	// adopts means that the pod records adopted amounts.
	adopts bool
}

func newOriginals(meta *metav1.ObjectMeta, h *history, made *admitted) *originals {
	_, applied := meta.Annotations[contract.AppliedInstanceType]
	o := &originals{
		annotations: meta.Annotations, history: h, sized: applied || h.anybody || h.cut, made: made,
		raisers: raisersOf(meta.Labels, meta.Annotations, h),
	}
	for key := range meta.Annotations {
		o.adopts = o.adopts || strings.HasPrefix(key, contract.AdoptedPrefix)
	}
	return o
}

// fill finds the originals of the i-th container.
func (o *originals) fill(c *Container, i int) {
	for _, r := range sizing.Measures {
		o.amount(c, i, r)
	}
}

// amount determines the originals of one resource; unknown ones are 0. A resize cannot
// remove requests or limits, so annotations for a missing request or limit have no meaning.
func (o *originals) amount(c *Container, i int, r *sizing.Measure) {
	current, original, standing := *r.Of(&c.Spec), r.Of(&c.Original), &c.Standings[r.Index]
	if current.Request == 0 {
		*original = current
		return
	}
	request := o.part(c, i, r.Request, current.Request, r)
	limit := part{}
	switch {
	case current.Limit != 0:
		limit = o.part(c, i, r.Limit, current.Limit, r)
	case r == sizing.CPU && o.raisers != nil:
		o.raised(c, i, r.Limit, 0) // It may be raised by being removed.
	}
	*original = sizing.Amount{Request: request.original, Limit: limit.original}
	var found finding
	switch {
	case request.Claim == Theirs || limit.Claim == Theirs:
		found = request.besides(limit)
	case request.Claim != Scales:
		found = request.finding
	case limit.missing && limit.by != admission && current.Limit == current.Request && current.Limit < r.Most:
		// We keep a limit equal to its request only if it was equal before. The published
		// controller makes them equal and records no limit, so this may not be what the
		// author wrote, and it is not recorded either.
		original.Limit = original.Request
		found.Adopted = request.Adopted
	case limit.missing:
		// A limit that the author wrote would have been recorded before it was changed.
		found.Claim, found.Adopted = LimitStays, request.Adopted
	case limit.Claim == Lost:
		found = limit.finding
	case limit.original != 0 && limit.original < request.original:
		found.Claim = Lost
		found.why = fmt.Sprintf("annotation %s: limit %s is below the request %s", r.Limit.Key(c.Name()), r.Text(limit.original), r.Text(request.original))
	default:
		found.Adopted = request.Adopted | limit.Adopted
	}
	if *standing = found.Standing; r == sizing.Memory && standing.Ours() {
		o.setBack(c, i, r.Request, current.Request, original.Request)
		o.setBack(c, i, r.Limit, current.Limit, original.Limit)
	}
	if found.why != "" || found.manager != "" {
		c.alter().why[r.Index], c.alter().manager[r.Index] = found.why, found.manager
	}
}

// finding is a standing and its explanation: why for Lost, manager for Theirs.
type finding struct {
	Standing
	why, manager string
}

// part describes a request or a limit: its original, and who set its current amount.
type part struct {
	finding
	// original is 0 if it is unknown.
	original int64
	// missing means that a required annotation does not exist.
	missing bool
	// by is who set the container's current amount.
	by setter
}

// besides returns the finding of a resource whose request p, limit, or both another actor
// set.
func (p part) besides(limit part) finding {
	f := p.finding
	if f.Claim != Theirs {
		f = limit.finding
	}
	f.Set, f.Adopted = p.Set|limit.Set, p.Adopted|limit.Adopted
	for _, other := range [...]part{p, limit} {
		if other.Claim == Lost {
			f.Set = 0 // The unknown part cannot be computed.
		}
	}
	return f
}

func lost(format string, args ...any) finding {
	return finding{Standing: Standing{Claim: Lost}, why: fmt.Sprintf(format, args...)}
}

// adoptedText returns the record of an adopted amount. Most pods have none.
func (o *originals) adoptedText(c *Container, which contract.Original) (text string, ok bool) {
	if !o.adopts {
		return "", false
	}
	return which.AdoptedIn(o.annotations, c.Name())
}

// part determines the original of one amount.
func (o *originals) part(c *Container, i int, which contract.Original, current int64, r *sizing.Measure) part {
	by, manager := o.history.setterOf(i, which)
	if by == us || by == predecessor {
		c.facts |= resized
	}
	if r == sizing.CPU && by == author && o.made.doubt == "" && (o.adopts || o.raisers != nil) {
		if p, ok := o.raised(c, i, which, current); ok {
			return p
		}
	}
	adopted := uint8(0)
	if text, ok := o.adoptedText(c, which); ok {
		amount, _ := r.Parse(text) // 0 if it cannot be parsed; current is never 0.
		switch _, adopts := o.annotations[contract.AdoptedAt]; {
		case by == another && o.history.adopted(i, which) && amount == current && adopts:
			by, adopted = us, 1<<which
		case by == another && o.history.adopted(i, which) && amount == current:
			by = us
			c.alter().returned |= 1 << which
		default:
			c.Outdated |= 1 << which
			c.alter().adopted[which] = text
		}
	}
	if by == author || by == unknown {
		authored, made := o.made.of(c.Name(), i, which, current)
		switch {
		case o.made.doubt != "":
			return part{finding: lost("annotation %s: %s", contract.CreatedSizes, o.made.doubt)}
		case made:
			c.facts |= resized
			return o.compare(c, i, which, authored, r)
		case by == author:
			return o.compare(c, i, which, current, r)
		}
	}
	recorded, ok, err := o.read(c, i, which, r)
	if by == predecessor && !o.history.vouchedFor(manager) {
		c.alter().predecessors = append(c.alter().predecessors, manager)
	}
	switch {
	case by == another:
		return part{original: recorded, finding: finding{Standing: Standing{Claim: Theirs, Set: 1 << which}, manager: manager}}
	case err != nil:
		return part{finding: lost("%s", err)}
	case ok && by == unknown && recorded != current:
		return part{finding: lost("annotation %s contradicts the spec, and managedFields no longer show who resized the pod", which.Key(c.Name()))}
	case ok:
		return part{original: recorded, finding: finding{Standing: Standing{Adopted: adopted}}}
	case by == unknown && !o.sized:
		c.Unannotated |= 1 << which
		return part{original: current}
	}
	return part{by: by, missing: true, finding: lost("annotation %s is missing although the pod was resized: it was removed, or its request or limit was added after the pod was created", which.Key(c.Name()))}
}

// compare determines the original of an amount as created, which is what the author wrote, and notes that it must be
// recorded if the annotation is missing or wrong. What we recorded ourselves was right. If
// it contradicts that, the record of who set the amount is wrong, for example because
// admission changed the amount in a resize.
func (o *originals) compare(c *Container, i int, which contract.Original, authored int64, r *sizing.Measure) part {
	text, ok := which.In(o.annotations, c.Name())
	amount, _ := r.Parse(text) // 0 if it is missing or cannot be parsed.
	switch writer, _ := o.history.writerOf(i, which); {
	case amount == authored:
		c.takeOver(which, writer, text)
	case ok && writer == contract.FieldManager:
		return part{finding: lost("annotation %s contradicts the spec, although managedFields show no resize", which.Key(c.Name()))}
	case ok:
		c.alter().ignored = append(c.alter().ignored, fmt.Sprintf("annotation %s: %.64q contradicts the spec, which was never resized: the original is %s", which.Key(c.Name()), text, r.Text(authored)))
		c.Unannotated |= 1 << which
	default:
		c.Unannotated |= 1 << which
	}
	return part{original: authored}
}

// read returns the amount in an annotation, and whether the annotation exists. It returns
// an error if the amount cannot be parsed, or if its writer could not know it.
func (o *originals) read(c *Container, i int, which contract.Original, r *sizing.Measure) (amount int64, ok bool, err error) {
	text, ok := which.In(o.annotations, c.Name())
	if !ok {
		return 0, false, nil
	}
	amount, err = r.Parse(text)
	if err == nil && amount == 0 {
		err = fmt.Errorf("%q is not greater than 0", text)
	}
	writer, could := o.history.writerOf(i, which)
	c.note(which, writer, text)
	if err == nil && !could {
		err = fmt.Errorf("it was written by %q, which neither created nor resized the pod", writer)
	}
	if err != nil {
		return 0, false, fmt.Errorf("annotation %s: %w", which.Key(c.Name()), err)
	}
	c.takeOver(which, writer, text)
	return amount, true, nil
}

// takeOver notes that the reconciler must become the owner of a correct original of another
// manager, while the record still proves that it is correct.
func (c *Container) takeOver(which contract.Original, writer, text string) {
	if c.note(which, writer, text) {
		c.TakesOver |= 1 << which
	}
}

// note notes the text of an original that another manager owns: writing the same text would
// not make the reconciler its owner.
func (c *Container) note(which contract.Original, writer, text string) bool {
	if writer == "" || writer == contract.FieldManager {
		return false
	}
	c.alter().texts[which] = text
	return true
}
