package policy

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Bounds limits the requests of each container, regardless of the ratio.
type Bounds struct {
	// CPU is in millicores.
	CPU sizing.Range
	// Memory is in bytes.
	Memory sizing.Range
}

// Keys implements keys.Section.
func (b *Bounds) Keys() []keys.Key {
	return slices.Concat(keys.Below("cpu", ends(&b.CPU, &keys.CPU)...), keys.Below("memory", ends(&b.Memory, &keys.Memory)...))
}

// ends returns the keys of a range. An end of 0 is unbounded.
func ends(r *sizing.Range, of *keys.Resource) []keys.Key {
	return []keys.Key{
		keys.Of("min", &r.Min, of.Bound(0), 0, "the least that a container gets").Or("none"),
		keys.Of("max", &r.Max, of.Most(), 0, "the most that a container gets").Or("none"),
	}
}
