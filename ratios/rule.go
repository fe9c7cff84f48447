package ratios

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// Rule is configuration for some pods only. Values that it does not set come from the globals.
type Rule struct {
	// Name identifies the rule to users: its path in its source.
	Name string
	// Match selects the pods that the rule applies to.
	Match Criteria
	// Baseline is empty if the global baseline applies.
	Baseline string
	// Ratios by node type replace or extend the global ratios.
	Ratios map[string]Ratio
	// Bounds override the global bounds, each end separately.
	Bounds BoundsOverride
	// MaxSpeedRatio is finite and at least 1; 0 if the global maximum applies.
	MaxSpeedRatio float64
	// Demand overrides the global demand, each value separately.
	Demand Demand
	// Guard overrides the global guard, each value separately.
	Guard Guard
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

// Criteria select pods. A pod must meet all of them; an empty criterion is always met.
type Criteria struct {
	// Namespace is the namespace of the pod.
	Namespace string
	// ComputeClass is the class that the pod requests.
	ComputeClass string
	// Labels that the pod must have, with their values.
	Labels map[string]string
	// Annotations that the pod must have, with their values.
	Annotations map[string]string
}

// Subject is the part of a pod that rules match on.
type Subject interface {
	// Namespace returns the namespace of the pod.
	Namespace() string
	// Label returns the value of a label, and whether the pod has it.
	Label(key string) (value string, ok bool)
	// Annotation returns the value of an annotation, and whether the pod has it.
	Annotation(key string) (value string, ok bool)
	// ComputeClass returns the value of cloud.google.com/compute-class in the
	// pod's node selector; empty if there is none.
	ComputeClass() string
}
