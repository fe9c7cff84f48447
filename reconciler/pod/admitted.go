package pod

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
)

// admitted is what the server did to a pod while it was being created; the zero value if it did nothing.
type admitted struct {
	seal.Creation
	sizes AppliedSizes
	// doubt is why the pod's record of that proves nothing, so that nobody knows what its author wrote; empty if there is
	// no doubt.
	doubt string
}

// admittedOf reads what the server did to a pod while it was being created.
func admittedOf(object *corev1.Pod, keys *seal.Ring) (c admitted) {
	text, ok := object.Annotations[contract.CreatedSizes]
	if !ok {
		return c
	}
	made, err := keys.Open(seal.SubjectOf(&object.ObjectMeta, object.Namespace), text, object.CreationTimestamp.Time)
	switch {
	case err != nil:
		c.doubt = err.Error()
	case ParseAppliedSizes(made.Sizes) == nil:
		c.doubt = "its sizes cannot be read"
	default:
		c.Creation, c.sizes = made, ParseAppliedSizes(made.Sizes)
	}
	return c
}

// decides reports whether any size was changed, or kept because usage showed the same.
func (c *admitted) decides() bool {
	if c.Demand != "" {
		return true
	}
	for i := range c.sizes {
		if c.sizes[i].From != c.sizes[i].To {
			return true
		}
	}
	return false
}

// of returns the amount that the author wrote if the current one of the i-th container is what the server replaced it with.
// Another webhook may have changed it since.
func (c *admitted) of(name string, i int, which contract.Original, current int64) (authored int64, ok bool) {
	sizes, ok := c.sizes.Of(name, i)
	if !ok {
		return 0, false
	}
	from, to := sizes.From.Amount(which), sizes.To.Amount(which)
	return from, from != 0 && from != to && to == current
}
