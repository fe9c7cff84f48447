package ratios

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Ratio is the performance of one node type. Only quotients of two ratios have
// a meaning, so the unit is free as long as all node types share it.
type Ratio struct {
	// CPUPerf is finite and above 0.
	CPUPerf float64
	// MemoryPerf is finite and above 0.
	MemoryPerf float64
	// Provenance is where the ratio comes from.
	Provenance Provenance
	// ExpireTime is when its source stops saying so by itself; zero if it does
	// not.
	ExpireTime time.Time
}

// Provenance is where a value comes from.
type Provenance struct {
	// Source is the name of the provider.
	Source string
	// UpdateTime is when the value was last written at its source; zero if
	// the source does not know.
	UpdateTime time.Time
	// Author wrote it, as the source knows it; empty if it does not.
	Author string
	// Reason is why, in the words of the author; empty if the source does not
	// know.
	Reason string
}

// Bounds limits requests per container, whatever the ratio.
type Bounds struct {
	// CPU is in millicores.
	CPU sizing.Range
	// Memory is in bytes.
	Memory sizing.Range
}

// Layer is what one provider knows. Nobody changes a layer once it is reported.
type Layer struct {
	// Baseline is the node type that requests are written for; empty if the
	// provider does not say.
	Baseline string
	// Ratios by node type.
	Ratios map[string]Ratio
	// RelativeTo is the node type whose performances those of Ratios are multiples
	// of; empty if they are in the unit of all layers. While no layer that is not
	// relative names it, Ratios do not count. A relative MemoryPerf of 0 is as the
	// next layer has it that names the node type (or, of one CPU model of a type, the
	// type) and is not relative, else as that of RelativeTo. CPU models of a node type
	// do not count where a layer before names the type. Nothing but its Ratios counts in a relative layer, and of these
	// not RelativeTo nor the baseline: other layers decide of them.
	RelativeTo string
	// Bounds is nil if the provider does not say.
	Bounds *Bounds
	// Rules are for some pods only; the first that matches a pod decides.
	Rules []Rule
}
