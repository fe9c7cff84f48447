package pod

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// originals finds out what the author of a pod asked for. It does so for each
// request and each limit by itself, by who set it last: of what is as created it
// is the spec, whatever annotations say; of what we set it is the annotation, as far
// as who wrote that may know.
type originals struct {
	annotations map[string]string
	history     *history
	// sized says that the pod was sized before: then what nobody is known to have
	// set is no original any more, whatever became of the annotations.
	sized bool
}

func newOriginals(annotations map[string]string, h *history) *originals {
	_, applied := annotations[contract.AppliedInstanceType]
	return &originals{annotations: annotations, history: h, sized: applied || h.anybody || h.cut}
}

// fill finds the originals of the i-th container.
func (o *originals) fill(c *Container, i int) {
	for _, r := range sizing.Measures {
		o.amount(c, i, r)
	}
}

// amount reads one resource. A resize can remove neither requests nor limits, so
// annotations of what is not there mean nothing. What is not known is 0.
func (o *originals) amount(c *Container, i int, r *sizing.Measure) {
	current, original, standing := *r.Of(&c.Spec), r.Of(&c.Original), &c.Standings[r.Index]
	if current.Request == 0 {
		*original = current
		return
	}
	request := o.part(c, i, r.Request, current.Request, r)
	limit := part{}
	if current.Limit != 0 {
		limit = o.part(c, i, r.Limit, current.Limit, r)
	}
	*original = sizing.Amount{Request: request.original, Limit: limit.original}
	var found finding
	switch {
	case request.Claim == Theirs || limit.Claim == Theirs:
		found = request.besides(limit)
	case request.Claim != Scales:
		found = request.finding
	case limit.missing && limit.by != admission && current.Limit == current.Request && current.Limit < r.Most:
		// We keep equal what was equal, and only that. The published controller makes
		// them equal and records no limit, so that this is not known to be what the
		// author wrote, and not recorded either.
		original.Limit = original.Request
		found.Adopted = request.Adopted
	case limit.missing:
		// A limit of the author's would have been recorded before it was changed.
		found.Claim, found.Adopted = LimitStays, request.Adopted
	case limit.Claim == Lost:
		found = limit.finding
	case limit.original != 0 && limit.original < request.original:
		found.Claim = Lost
		found.why = fmt.Sprintf("annotation %s: limit %s is below the request %s", r.Limit.Key(c.Name()), r.Text(limit.original), r.Text(request.original))
	default:
		found.Adopted = request.Adopted | limit.Adopted
	}
	*standing = found.Standing
	if found.why != "" || found.manager != "" {
		c.alter().why[r.Index], c.alter().manager[r.Index] = found.why, found.manager
	}
}

// finding is a standing, and why it is no better: why is for Lost, manager for Theirs.
type finding struct {
	Standing
	why, manager string
}

// part is what is known of a request, or of a limit.
type part struct {
	finding
	// original is 0 if it is not known.
	original int64
	// missing says that there is no annotation, though there should be.
	missing bool
	// by set the amount that the container has.
	by setter
}

// besides returns the finding of a resource of which somebody else set the
// request p, the limit, or both.
func (p part) besides(limit part) finding {
	f := p.finding
	if f.Claim != Theirs {
		f = limit.finding
	}
	f.Set, f.Adopted = p.Set|limit.Set, p.Adopted|limit.Adopted
	for _, other := range [...]part{p, limit} {
		if other.Claim == Lost {
			f.Set = 0 // What is not known beside it cannot be worked out.
		}
	}
	return f
}

func lost(format string, args ...any) finding {
	return finding{Standing: Standing{Claim: Lost}, why: fmt.Sprintf(format, args...)}
}

// part finds the original of one amount.
func (o *originals) part(c *Container, i int, which contract.Original, current int64, r *sizing.Measure) part {
	by, manager := o.history.setterOf(i, which)
	if by == us || by == predecessor {
		c.facts |= resized
	}
	adopted := uint8(0)
	if text, ok := which.AdoptedIn(o.annotations, c.Name()); ok {
		amount, _ := r.Parse(text) // What cannot be read is 0, which is never there.
		if by == another && o.history.adopted(i, which) && amount == current {
			by, adopted = us, 1<<which
		} else {
			c.Outdated |= 1 << which
			c.alter().adopted[which] = text
		}
	}
	if by == author {
		return o.compare(c, i, which, current, r)
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
		return part{finding: lost("annotation %s contradicts the spec, and the API server's record of who resized the pod is gone", which.Key(c.Name()))}
	case ok:
		return part{original: recorded, finding: finding{Standing: Standing{Adopted: adopted}}}
	case by == unknown && !o.sized:
		c.Unrecorded |= 1 << which
		return part{original: current}
	}
	return part{by: by, missing: true, finding: lost("annotation %s is missing although the pod was resized: it was lost, or what it is about came after the author", which.Key(c.Name()))}
}

// compare has the original of what is as created recorded, if it is not there yet, or is
// wrong. What we recorded ourselves was right: then the record of who set the amount is
// not, as of what admission changed in a resize.
func (o *originals) compare(c *Container, i int, which contract.Original, spec int64, r *sizing.Measure) part {
	text, ok := which.In(o.annotations, c.Name())
	amount, _ := r.Parse(text) // 0 if there is none, or none that can be read.
	switch writer, _ := o.history.writerOf(i, which); {
	case amount == spec:
		c.takeOver(which, writer, text)
	case ok && writer == contract.FieldManager:
		return part{finding: lost("annotation %s contradicts the spec, which nobody is known to have resized", which.Key(c.Name()))}
	case ok:
		c.alter().ignored = append(c.alter().ignored, fmt.Sprintf("annotation %s: %.64q contradicts the spec, which nobody has resized since it was created: %s counts", which.Key(c.Name()), text, r.Text(spec)))
		c.Unrecorded |= 1 << which
	default:
		c.Unrecorded |= 1 << which
	}
	return part{original: spec}
}

// read returns the amount in an annotation, and whether there is one. The error is
// that it cannot be read, or was written by somebody who could not know it.
func (o *originals) read(c *Container, i int, which contract.Original, r *sizing.Measure) (amount int64, ok bool, err error) {
	text, ok := which.In(o.annotations, c.Name())
	if !ok {
		return 0, false, nil
	}
	amount, err = r.Parse(text)
	if err == nil && amount == 0 {
		err = fmt.Errorf("%q is not above 0", text)
	}
	writer, could := o.history.writerOf(i, which)
	c.note(which, writer, text)
	if err == nil && !could {
		err = fmt.Errorf("it was written by %q, who neither created nor resized the pod", writer)
	}
	if err != nil {
		return 0, false, fmt.Errorf("annotation %s: %w", which.Key(c.Name()), err)
	}
	c.takeOver(which, writer, text)
	return amount, true, nil
}

// takeOver notes that an original that another wrote rightly is to be ours, before nothing
// proves any more that it is right.
func (c *Container) takeOver(which contract.Original, writer, text string) {
	if c.note(which, writer, text) {
		c.TakesOver |= 1 << which
	}
}

// note notes what an original says that is another's, which it stays if we write the same.
func (c *Container) note(which contract.Original, writer, text string) bool {
	if writer == "" || writer == contract.FieldManager {
		return false
	}
	c.alter().texts[which] = text
	return true
}
