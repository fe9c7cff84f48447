package config

import (
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ends are the ends of a bound as they are written; nil where they are not.
type ends struct{ min, max *resource.Quantity }

// sensible is what the bounds of a resource can be. Others are a slip of the pen,
// such as the suffix of another resource.
type sensible struct {
	least, most resource.Quantity
	// unit is what there are no fractions of.
	unit string
	// example is how such quantities are written.
	example string
}

var (
	cpuBound    = sensible{resource.MustParse("1m"), resource.MustParse("10k"), "", `cores, such as "50m" or "16"`}
	memoryBound = sensible{resource.MustParse("1Mi"), resource.MustParse("1Pi"), "byte", `bytes, such as "64Mi" or "32Gi"`}
)

func (r *reader) ends(into *ends, of sensible) read {
	return func(path string, n *yaml.Node) {
		r.fields(path, n, map[string]read{
			"min": r.bound(&into.min, 0, of),
			"max": r.bound(&into.max, 1, of),
		})
	}
}

// bound reads an end whose sign is at least leastSign; 0 is open.
func (r *reader) bound(into **resource.Quantity, leastSign int, of sensible) read {
	return func(path string, n *yaml.Node) {
		q, err := parseQuantity(n.Value)
		fault := func(format string, args ...any) {
			r.faults.add(path, "line %d: "+format, append([]any{n.Line}, args...)...)
		}
		switch {
		case n.Kind != yaml.ScalarNode || err != nil:
			fault("want a quantity such as \"50m\" or \"64Mi\", got %s", describe(n))
		case q.Sign() < leastSign:
			fault("%s is too small; leave it out for no bound", describe(n))
		case q.Cmp(of.most) > 0:
			fault("%s is more than %s, which no machine has; want %s, or leave it out for no bound", describe(n), of.most.String(), of.example)
		case of.unit != "" && q.Cmp(*resource.NewQuantity(q.Value(), q.Format)) != 0:
			fault("%s has a fraction of a %s; want %s", describe(n), of.unit, of.example)
		case q.Sign() > 0 && q.Cmp(of.least) < 0:
			fault("%s is less than %s; want %s", describe(n), of.least.String(), of.example)
		default:
			*into = &q
		}
	}
}
