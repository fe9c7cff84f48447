package reconciler

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// originals finds out what the author of a pod asked for: what the annotations
// say, and where they say nothing what the spec says.
type originals struct {
	annotations map[string]string
	// sized tells that the pod was sized before: then its spec is no
	// original any more, whatever became of the annotations.
	sized bool
	// unrecorded collects the annotations that are missing.
	unrecorded map[string]string
}

func newOriginals(pod *corev1.Pod) *originals {
	_, sized := pod.Annotations[contract.AppliedInstanceType]
	return &originals{annotations: pod.Annotations, sized: sized || resizedByUs(pod)}
}

// resizedByUs tells whether the API server's record of who owns the pod's
// fields has a resize of ours. It stays where somebody removes our annotations.
func resizedByUs(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Subresource == "resize" && m.Manager == contract.FieldManager
	})
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

// fill finds the originals of a container that has c.Current now.
func (o *originals) fill(c *ContainerPlan) (err error) {
	c.Original.CPU, c.cpu, err = o.amount(c.Current.CPU, contract.OriginalCPU(c.Name), contract.OriginalCPULimit(c.Name), millicores)
	if err != nil {
		return err
	}
	c.Original.Memory, c.memory, err = o.amount(c.Current.Memory, contract.OriginalMemory(c.Name), contract.OriginalMemoryLimit(c.Name), bytes)
	return err
}

// amount reads one resource. A resize can remove neither requests nor limits, so
// annotations of what is not there mean nothing.
func (o *originals) amount(current sizing.Amount, requestKey, limitKey string, u unit) (sizing.Amount, standing, error) {
	if current.Request == 0 {
		return current, scales, nil
	}
	original := current
	request, recorded, err := o.read(requestKey, u)
	switch {
	case err != nil:
		return sizing.Amount{}, stays, err
	case recorded:
		original.Request = request
	case o.sized && o.others():
		// The request came after the author's: the originals of what he
		// wrote are recorded together.
		return current, stays, nil
	case o.sized:
		return sizing.Amount{}, stays, fmt.Errorf("annotation %s is missing although the pod was sized for a node type", requestKey)
	default:
		o.record(requestKey, u.text(current.Request))
	}
	if current.Limit == 0 {
		return original, scales, nil
	}
	limit, limitRecorded, err := o.read(limitKey, u)
	switch {
	case err != nil:
		return sizing.Amount{}, stays, err
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
		o.record(limitKey, u.text(original.Limit))
	}
	if original.Limit < original.Request {
		return sizing.Amount{}, stays, fmt.Errorf("annotation %s: limit %s is below the request %s", limitKey, u.text(original.Limit), u.text(original.Request))
	}
	return original, scales, nil
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
func (o *originals) read(key string, u unit) (amount int64, ok bool, err error) {
	text, ok := o.annotations[key]
	if !ok {
		return 0, false, nil
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, false, fmt.Errorf("annotation %s: %q is not a quantity", key, text)
	}
	amount, ok = u.read(&q)
	switch {
	case q.Sign() <= 0:
		return 0, false, fmt.Errorf("annotation %s: %q is not above 0", key, text)
	case !ok:
		return 0, false, fmt.Errorf("annotation %s: %q is more than any machine has", key, text)
	}
	return amount, true, nil
}

func (o *originals) record(key, value string) {
	if o.unrecorded == nil {
		o.unrecorded = map[string]string{}
	}
	o.unrecorded[key] = value
}

// unit is what a resource is counted in.
type unit int

const (
	millicores unit = iota // of cpu
	bytes                  // of memory
)

func (u unit) read(q *resource.Quantity) (int64, bool) {
	if u == millicores {
		return sizing.Millicores(q)
	}
	return sizing.Bytes(q)
}

func (u unit) text(amount int64) string {
	if u == millicores {
		return sizing.CPUText(amount)
	}
	return sizing.MemoryText(amount)
}
