package reconciler

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// originals finds out what the author of a pod asked for. Of a container that
// nobody ever resized that is the spec, whatever the annotations say. After a resize it
// is the annotations, as far as who wrote them may know.
type originals struct {
	annotations map[string]string
	history     *history
	// sized tells that the pod was sized before: then its spec is no
	// original any more, whatever became of the annotations.
	sized bool
	// ignored tells which annotations contradict the spec of a pod that
	// nobody ever resized.
	ignored []string
}

func newOriginals(annotations map[string]string, h *history) *originals {
	_, applied := annotations[contract.AppliedInstanceType]
	return &originals{annotations: annotations, history: h, sized: applied || h.resized()}
}

// standing is what may be done with one resource of a container.
type standing int

const (
	// scales: request and limit are scaled from the original.
	scales standing = iota
	// limitStays: the limit came after the author, as a LimitRange's default
	// does with a resize; it is left as it is.
	limitStays
	// stays: the original is not known, so nothing is changed.
	stays
)

// settle returns what becomes of the present amount where to is wanted.
func (s standing) settle(present, to sizing.Amount) sizing.Amount {
	switch s {
	case stays:
		return present
	case limitStays:
		to.Limit = max(to.Request, present.Limit)
	}
	return to
}

// fill finds the originals of a container that has c.Current now.
func (o *originals) fill(c *ContainerPlan) (err error) {
	untouched := o.history.untouched(c.Name)
	if o.history.stranger != "" && !untouched {
		return fmt.Errorf("an original was written by %q, who neither created nor resized the pod", o.history.stranger)
	}
	if c.Original.CPU, c.cpu, err = o.amount(c, cpu, untouched); err != nil {
		return err
	}
	c.Original.Memory, c.memory, err = o.amount(c, memory, untouched)
	return err
}

// amount reads one resource. A resize can remove neither requests nor limits, so
// annotations of what is not there mean nothing.
func (o *originals) amount(c *ContainerPlan, r measure, untouched bool) (sizing.Amount, standing, error) {
	current := r.of(&c.Current)
	switch {
	case current.Request == 0:
		return current, scales, nil
	case untouched:
		o.compare(c, r.request, current.Request, r)
		if current.Limit != 0 {
			o.compare(c, r.limit, current.Limit, r)
		}
		return current, scales, nil
	}
	original := current
	request, recorded, err := o.read(c.Name, r.request, r)
	switch {
	case err != nil:
		return sizing.Amount{}, stays, err
	case recorded && request != current.Request && !o.history.resized():
		return sizing.Amount{}, stays, o.unproven(c, r.request)
	case recorded:
		original.Request = request
	case o.sized && o.others():
		// The request came after the author's: the originals of what he
		// wrote are recorded together.
		return current, stays, nil
	case o.sized || o.history.cut:
		return sizing.Amount{}, stays, fmt.Errorf("annotation %s is missing although the pod was resized", r.request.Key(c.Name))
	default:
		c.record(r.request)
	}
	if current.Limit == 0 {
		return original, scales, nil
	}
	limit, limitRecorded, err := o.read(c.Name, r.limit, r)
	switch {
	case err != nil:
		return sizing.Amount{}, stays, err
	case limitRecorded && limit != current.Limit && !o.history.resized():
		return sizing.Amount{}, stays, o.unproven(c, r.limit)
	case limitRecorded:
		original.Limit = limit
	case recorded && current.Limit == current.Request:
		// Perhaps set so by the published controller: not known to be
		// what the author wrote, and so not recorded.
		original.Limit = original.Request
	case current.Request != original.Request:
		// A limit of the author's would have been recorded with his
		// request, before the first resize.
		original.Limit = 0
		return original, limitStays, nil
	default:
		c.record(r.limit)
	}
	if original.Limit < original.Request {
		return sizing.Amount{}, stays, fmt.Errorf("annotation %s: limit %s is below the request %s", r.limit.Key(c.Name), r.text(original.Limit), r.text(original.Request))
	}
	return original, scales, nil
}

// unproven is the error of an annotation that contradicts the spec of a pod whose
// record somebody has reset, or that was cut: nothing proves either.
func (o *originals) unproven(c *ContainerPlan, which contract.Original) error {
	return fmt.Errorf("annotation %s contradicts the spec, and the API server's record of who resized the pod is gone", which.Key(c.Name))
}

// compare has an original recorded that is not there yet, or is wrong.
func (o *originals) compare(c *ContainerPlan, which contract.Original, spec int64, r measure) {
	text, ok := which.In(o.annotations, c.Name)
	if !ok {
		c.record(which)
		return
	}
	if amount, err := r.parse(text); err != nil || amount != spec {
		c.record(which)
		o.ignored = append(o.ignored, fmt.Sprintf("annotation %s: %.64q contradicts the spec, which nobody has resized since it was created: %s counts", which.Key(c.Name), text, r.text(spec)))
	}
}

// others tells whether the pod has originals of any resource.
func (o *originals) others() bool {
	for key := range o.annotations {
		if strings.HasPrefix(key, contract.OriginalPrefix) {
			return true
		}
	}
	return false
}

// read returns the amount in an annotation, and whether there is one.
func (o *originals) read(container string, which contract.Original, r measure) (amount int64, ok bool, err error) {
	text, ok := which.In(o.annotations, container)
	if !ok {
		return 0, false, nil
	}
	amount, err = r.parse(text)
	switch {
	case err != nil:
		return 0, false, fmt.Errorf("annotation %s: %w", which.Key(container), err)
	case amount == 0:
		return 0, false, fmt.Errorf("annotation %s: %q is not above 0", which.Key(container), text)
	}
	return amount, true, nil
}

// measure is cpu or memory.
type measure struct {
	request, limit contract.Original
	// of returns a container's amount.
	of func(*sizing.Container) sizing.Amount
	// text is an amount as Kubernetes writes it; parse reads it.
	text  func(int64) string
	parse func(string) (int64, error)
}

var (
	cpu = measure{contract.CPURequest, contract.CPULimit,
		func(c *sizing.Container) sizing.Amount { return c.CPU }, sizing.CPUText, sizing.ParseCPU}
	memory = measure{contract.MemoryRequest, contract.MemoryLimit,
		func(c *sizing.Container) sizing.Amount { return c.Memory }, sizing.MemoryText, sizing.ParseMemory}
)

// record notes that an original is to be written.
func (c *ContainerPlan) record(which contract.Original) { c.unrecorded |= 1 << which }

// unrecorded are the annotations with originals that the pod lacks, or that are
// wrong; nil if there are none.
func (p *Plan) unrecorded() map[string]string {
	var annotations map[string]string
	for i := range p.Containers {
		c := &p.Containers[i]
		for which, amount := range [...]int64{
			contract.CPURequest: c.Original.CPU.Request, contract.CPULimit: c.Original.CPU.Limit,
			contract.MemoryRequest: c.Original.Memory.Request, contract.MemoryLimit: c.Original.Memory.Limit,
		} {
			if c.unrecorded&(1<<which) == 0 {
				continue
			}
			if annotations == nil {
				annotations = map[string]string{}
			}
			text := sizing.CPUText
			if which >= int(contract.MemoryRequest) {
				text = sizing.MemoryText
			}
			annotations[contract.Original(which).Key(c.Name)] = text(amount)
		}
	}
	return annotations
}
