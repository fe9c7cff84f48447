package ratios

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// Rule is what a layer says about some pods only. What it leaves out, the
// globals say.
type Rule struct {
	// Name tells people which rule it is: its path in its source.
	Name string
	// Match tells which pods the rule is for.
	Match Criteria
	// Baseline is empty if that of the globals holds.
	Baseline string
	// Ratios by node type override those of the globals and add to them.
	Ratios map[string]Ratio
	// Bounds override those of the globals, each end by itself.
	Bounds BoundsOverride
}

// BoundsOverride replaces ends of Bounds.
type BoundsOverride struct {
	// CPU is in millicores.
	CPU RangeOverride
	// Memory is in bytes.
	Memory RangeOverride
}

// RangeOverride replaces the ends of a range that are not nil; 0 opens an end.
type RangeOverride struct{ Min, Max *int64 }

// Over returns what the override makes of the bounds b.
func (o BoundsOverride) Over(b Bounds) Bounds {
	return Bounds{CPU: o.CPU.over(b.CPU), Memory: o.Memory.over(b.Memory)}
}

// over returns what the override makes of the range r.
func (o RangeOverride) over(r sizing.Range) sizing.Range {
	if o.Min != nil {
		r.Min = *o.Min
	}
	if o.Max != nil {
		r.Max = *o.Max
	}
	return r
}

// Criteria tell pods apart. All of them must hold; one that is empty
// always does.
type Criteria struct {
	// ComputeClass is the class that the pod asks for.
	ComputeClass string
	// Labels must all be on the pod, with these values.
	Labels map[string]string
	// Annotations must all be on the pod, with these values.
	Annotations map[string]string
}

// Subject is what rules look at in a pod.
type Subject interface {
	// Label returns the value of a label, and whether the pod has it.
	Label(key string) (value string, ok bool)
	// Annotation is Label for annotations.
	Annotation(key string) (value string, ok bool)
	// ComputeClass is the value of cloud.google.com/compute-class in the pod's
	// node selector; empty if there is none.
	ComputeClass() string
}
