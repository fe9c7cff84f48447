package config

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// ends are the ends of a bound as they are written; nil if they are not set.
type ends struct{ min, max *resource.Quantity }

// sensible describes the bounds that a resource can have. Others are typos, such as
// the suffix of another resource.
type sensible struct {
	least, most resource.Quantity
	// unit is the unit that cannot be divided; empty if there is none.
	unit string
	// example shows how such quantities are written.
	example string
	// amount returns millicores or bytes.
	amount func(*resource.Quantity) int64
	// omitted is what applies if the quantity is omitted.
	omitted string
}

var (
	cpuBound    = sensible{resource.MustParse("1m"), resource.MustParse("10k"), "", `cores, such as "50m" or "16"`, (*resource.Quantity).MilliValue, "no bound"}
	memoryBound = sensible{resource.MustParse("1Mi"), resource.MustParse("1Pi"), "byte", `bytes, such as "64Mi" or "32Gi"`, (*resource.Quantity).Value, "no bound"}
)

// read reads both ends of a resource.
func (e *ends) read(of sensible) func(reader.Value) {
	return func(v reader.Value) {
		v.Fields(reader.Known{"min": bound(&e.min, 0, of), "max": bound(&e.max, 1, of)})
	}
}

// bound reads an end whose sign is at least leastSign. An end of 0 is unbounded.
func bound(into **resource.Quantity, leastSign int, of sensible) func(reader.Value) {
	return func(v reader.Value) {
		text, ok := v.Text()
		q, err := parseQuantity(text)
		switch {
		case !ok || err != nil:
			v.Fault("must be a quantity such as \"50m\" or \"64Mi\", not %s", v)
		case q.Sign() < leastSign:
			v.Fault("%s is too small; omit it for %s", v, of.omitted)
		case q.Cmp(of.most) > 0:
			v.Fault("%s is more than %s, which no machine has; specify %s, or omit it for %s", v, of.most.String(), of.example, of.omitted)
		case of.unit != "" && q.Cmp(*resource.NewQuantity(q.Value(), q.Format)) != 0:
			v.Fault("%s has a fraction of a %s; specify %s", v, of.unit, of.example)
		case q.Sign() > 0 && q.Cmp(of.least) < 0:
			v.Fault("%s is less than %s; specify %s", v, of.least.String(), of.example)
		default:
			*into = &q
		}
	}
}

// parseQuantity is resource.ParseQuantity for hand-written quantities.
func parseQuantity(text string) (resource.Quantity, error) {
	if !sizing.Plausible(text) {
		return resource.Quantity{}, resource.ErrFormatWrong
	}
	return resource.ParseQuantity(text)
}
