package policy

import (
	"cmp"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Bounds limits the requests of each container, regardless of the ratio.
type Bounds struct {
	// CPU is in millicores.
	CPU sizing.Range
	// Memory is in bytes.
	Memory sizing.Range
}

// BoundsOverride replaces individual ends of Bounds.
type BoundsOverride struct {
	// CPU is in millicores.
	CPU RangeOverride
	// Memory is in bytes.
	Memory RangeOverride
}

// RangeOverride replaces the ends of a range that are not nil. An end of 0 is unbounded.
type RangeOverride struct{ Min, Max *int64 }

// Exactly returns an override that replaces all ends with those of b.
func Exactly(b Bounds) BoundsOverride {
	of := func(r sizing.Range) RangeOverride { return RangeOverride{Min: &r.Min, Max: &r.Max} }
	return BoundsOverride{CPU: of(b.CPU), Memory: of(b.Memory)}
}

// Over returns the bounds b with the override applied.
func (o BoundsOverride) Over(b Bounds) Bounds {
	return Bounds{CPU: o.CPU.over(b.CPU), Memory: o.Memory.over(b.Memory)}
}

// over returns the range r with the override applied.
func (o RangeOverride) over(r sizing.Range) sizing.Range {
	if o.Min != nil {
		r.Min = *o.Min
	}
	if o.Max != nil {
		r.Max = *o.Max
	}
	return r
}

// or returns the bounds of o, or those of other where o has none.
func (o BoundsOverride) or(other BoundsOverride) BoundsOverride {
	return BoundsOverride{CPU: o.CPU.or(other.CPU), Memory: o.Memory.or(other.Memory)}
}

// or returns the ends of o, or those of other where o has none.
func (o RangeOverride) or(other RangeOverride) RangeOverride {
	return RangeOverride{Min: cmp.Or(o.Min, other.Min), Max: cmp.Or(o.Max, other.Max)}
}
