package safety

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// violation describes how sizes violate a constraint; "" if they do not.
type violation string

// about puts the constraint before the violation. format takes the resource, the type of the
// limit and the required value.
func (v violation) about(format string, name corev1.ResourceName, per corev1.LimitType, enforced resource.Quantity) string {
	if v == "" {
		return ""
	}
	return fmt.Sprintf(format, name, per, enforced.String()) + ", but " + string(v)
}

func (d demand) below(least resource.Quantity) violation {
	request, limit, bound := alike(d.request, d.limit, least)
	switch {
	case !d.requested:
		return "no request is specified"
	case request < bound:
		return violation("request is " + d.request.String())
	case d.limited && limit < bound:
		return violation("limit is " + d.limit.String())
	}
	return ""
}

func (d demand) above(most resource.Quantity) violation {
	request, limit, bound := alike(d.request, d.limit, most)
	switch {
	case !d.limited:
		return "no limit is specified"
	case limit > bound:
		return violation("limit is " + d.limit.String())
	case d.requested && request > bound:
		return violation("request is " + d.request.String())
	}
	return ""
}

// apart returns a violation if limit ÷ request exceeds most. Like the API server, it computes
// in floating point.
func (d demand) apart(most resource.Quantity) violation {
	request, limit, _ := alike(d.request, d.limit, most)
	switch {
	case request == 0:
		return "no request is specified or request is 0"
	case limit == 0:
		return "no limit is specified or limit is 0"
	}
	ratio := float64(limit) / float64(request)
	observed, bound := ratio, float64(most.Value())
	if most.Value() <= resource.MaxMilliValue {
		observed, bound = observed*1000, float64(most.MilliValue())
	}
	if observed > bound {
		return violation(fmt.Sprintf("the ratio is %f", ratio))
	}
	return ""
}

// alike returns the values at a common scale: thousandths if all values fit.
func alike(request, limit, bound resource.Quantity) (r, l, b int64) {
	r, l, b = request.Value(), limit.Value(), bound.Value()
	if r <= resource.MaxMilliValue && l <= resource.MaxMilliValue && b <= resource.MaxMilliValue {
		r, l, b = request.MilliValue(), limit.MilliValue(), bound.MilliValue()
	}
	return r, l, b
}
