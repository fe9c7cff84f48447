package reconciler

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

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
	// ignored says which annotations contradict what is as created.
	ignored []string
	// predecessors are controllers like us that sized the pod, and that are to be
	// vouched for.
	predecessors []string
}

func newOriginals(annotations map[string]string, h *history) *originals {
	_, applied := annotations[contract.AppliedInstanceType]
	return &originals{annotations: annotations, history: h, sized: applied || h.anybody || h.cut}
}

// claim is what may be done with one resource of a container.
type claim int

const (
	// scales: request and limit are scaled from the original.
	scales claim = iota
	// limitStays: the limit came after the author, as a LimitRange's default
	// does with a resize; it is left as it is.
	limitStays
	// lost: the original is not known, so nothing is changed.
	lost
	// theirs: somebody else set the request or the limit.
	theirs
)

// standing is a claim, and why it is no better.
type standing struct {
	claim
	// why is for lost, and manager for theirs.
	why, manager string
	// set has a bit for each contract.Original that somebody else set and that can
	// be adopted, adopted for each that was.
	set, adopted uint8
}

// ours reports whether the sizes are ours to change.
func (s standing) ours() bool { return s.claim == scales || s.claim == limitStays }

// settle returns what becomes of the present amount where to is wanted. A limit that
// stays is not equal to its request, and does not become so.
func (s standing) settle(r *measure, present, to sizing.Amount) sizing.Amount {
	switch {
	case !s.ours():
		return present
	case s.claim == limitStays:
		to.Limit = max(min(to.Request+r.unit, r.most), present.Limit)
	}
	return to
}

// fillOriginals finds what the author of the pod asked for.
func (p *Plan) fillOriginals(pod *corev1.Pod, h *history) {
	o := newOriginals(pod.Annotations, h)
	for i := range p.Containers {
		o.fill(&p.Containers[i])
	}
	for _, message := range o.ignored {
		p.because(contract.AnnotationIgnored, message)
		p.corrected = true
	}
	if len(o.predecessors) > 0 {
		if h.vouched != "" {
			o.predecessors = append(o.predecessors, h.vouched)
		}
		slices.Sort(o.predecessors)
		p.vouches = strings.Join(slices.Compact(o.predecessors), ",")
	}
}

// fill finds the originals of a container that has c.Current now.
func (o *originals) fill(c *ContainerPlan) {
	for _, r := range measures {
		*r.of(&c.Original), c.standings[r.index] = o.amount(c, r)
	}
}

// amount reads one resource. A resize can remove neither requests nor limits, so
// annotations of what is not there mean nothing. What is not known is 0.
func (o *originals) amount(c *ContainerPlan, r *measure) (sizing.Amount, standing) {
	current := *r.of(&c.Current)
	if current.Request == 0 {
		return current, standing{}
	}
	request := o.part(c, r.request, current.Request, r)
	limit := part{}
	if current.Limit != 0 {
		limit = o.part(c, r.limit, current.Limit, r)
	}
	original := sizing.Amount{Request: request.original, Limit: limit.original}
	switch {
	case request.claim == theirs || limit.claim == theirs:
		return original, request.besides(limit)
	case request.claim != scales:
		return original, request.standing
	case limit.missing && limit.by != admission && current.Limit == current.Request && current.Limit < r.most:
		// We keep equal what was equal, and only that. The published controller makes
		// them equal and records no limit, so that this is not known to be what the
		// author wrote, and not recorded either.
		original.Limit = original.Request
		return original, standing{adopted: request.adopted}
	case limit.missing:
		// A limit of the author's would have been recorded before it was changed.
		return original, standing{claim: limitStays, adopted: request.adopted}
	case limit.claim == lost:
		return original, limit.standing
	case limit.original != 0 && limit.original < request.original:
		return original, standing{claim: lost, why: fmt.Sprintf("annotation %s: limit %s is below the request %s", r.limit.Key(c.Name), r.text(limit.original), r.text(request.original))}
	}
	return original, standing{adopted: request.adopted | limit.adopted}
}

// part is what is known of a request, or of a limit.
type part struct {
	standing
	// original is 0 if it is not known.
	original int64
	// missing says that there is no annotation, though there should be.
	missing bool
	// by set the amount that the container has.
	by setter
}

// besides returns the standing of a resource of which somebody else set the
// request p, the limit, or both.
func (p part) besides(limit part) standing {
	s := p.standing
	if s.claim != theirs {
		s = limit.standing
	}
	s.set, s.adopted = p.set|limit.set, p.adopted|limit.adopted
	for _, other := range [...]part{p, limit} {
		if other.claim == lost {
			s.set = 0 // What is not known beside it cannot be worked out.
		}
	}
	return s
}

// part finds the original of one amount.
func (o *originals) part(c *ContainerPlan, which contract.Original, current int64, r *measure) part {
	by, manager := o.history.setterOf(c.index, which)
	adopted := uint8(0)
	if text, ok := which.AdoptedIn(o.annotations, c.Name); ok {
		amount, err := r.parse(text)
		if by == another && o.history.adopts && err == nil && amount == current {
			by, adopted = us, 1<<which
		} else {
			c.outdated |= 1 << which
		}
	}
	if by == author {
		return o.compare(c, which, current, r)
	}
	recorded, ok, err := o.read(c, which, r)
	if by == predecessor && !o.history.vouchedFor(manager) {
		o.predecessors = append(o.predecessors, manager)
	}
	switch {
	case by == another:
		return part{original: recorded, standing: standing{claim: theirs, manager: manager, set: 1 << which}}
	case err != nil:
		return part{standing: standing{claim: lost, why: err.Error()}}
	case ok && by == unknown && recorded != current:
		return part{standing: standing{claim: lost, why: fmt.Sprintf("annotation %s contradicts the spec, and the API server's record of who resized the pod is gone", which.Key(c.Name))}}
	case ok:
		return part{original: recorded, standing: standing{adopted: adopted}}
	case by == unknown && !o.sized:
		c.record(which)
		return part{original: current}
	}
	return part{by: by, missing: true, standing: standing{claim: lost, why: fmt.Sprintf("annotation %s is missing although the pod was resized: it was lost, or what it is about came after the author", which.Key(c.Name))}}
}

// compare has the original of what is as created recorded, if it is not there yet, or is
// wrong. What we recorded ourselves was right: then the record of who set the amount is
// not, as of what admission changed in a resize.
func (o *originals) compare(c *ContainerPlan, which contract.Original, spec int64, r *measure) part {
	text, ok := which.In(o.annotations, c.Name)
	amount, err := r.parse(text)
	switch writer, _ := o.history.writerOf(c.index, which); {
	case ok && err == nil && amount == spec:
		c.takeOver(which, writer)
	case ok && writer == contract.FieldManager:
		return part{standing: standing{claim: lost, why: fmt.Sprintf("annotation %s contradicts the spec, which nobody is known to have resized", which.Key(c.Name))}}
	case ok:
		o.ignored = append(o.ignored, fmt.Sprintf("annotation %s: %.64q contradicts the spec, which nobody has resized since it was created: %s counts", which.Key(c.Name), text, r.text(spec)))
		c.record(which)
	default:
		c.record(which)
	}
	return part{original: spec}
}

// read returns the amount in an annotation, and whether there is one. The error is
// that it cannot be read, or was written by somebody who could not know it.
func (o *originals) read(c *ContainerPlan, which contract.Original, r *measure) (amount int64, ok bool, err error) {
	text, ok := which.In(o.annotations, c.Name)
	if !ok {
		return 0, false, nil
	}
	amount, err = r.parse(text)
	if err == nil && amount == 0 {
		err = fmt.Errorf("%q is not above 0", text)
	}
	writer, could := o.history.writerOf(c.index, which)
	if err == nil && !could {
		err = fmt.Errorf("it was written by %q, who neither created nor resized the pod", writer)
	}
	if err == nil {
		c.takeOver(which, writer)
	}
	if err != nil {
		return 0, false, fmt.Errorf("annotation %s: %w", which.Key(c.Name), err)
	}
	return amount, true, nil
}
