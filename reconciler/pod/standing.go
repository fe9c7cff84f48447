package pod

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// Claim is what may be done with one resource of a container.
type Claim uint8

const (
	// Scales: request and limit are scaled from the original.
	Scales Claim = iota
	// LimitStays: the limit came after the author, as a LimitRange's default
	// does with a resize; it is left as it is.
	LimitStays
	// Lost: the original is not known, so nothing is changed.
	Lost
	// Theirs: somebody else set the request or the limit.
	Theirs
)

// Standing is the claim on a resource, and what of it somebody else set.
type Standing struct {
	Claim
	// Set has a bit (1 << contract.Original) for each amount that somebody else set and
	// that can be adopted, Adopted for each that was.
	Set, Adopted uint8
}

// Ours reports whether the sizes are the reconciler's to change.
func (s Standing) Ours() bool { return s.Claim == Scales || s.Claim == LimitStays }

// WhyLost says why the original of a resource is lost; empty if it is not.
func (c *Container) WhyLost(m *sizing.Measure) string { return c.rarely().why[m.Index] }

// SetBy is the field manager that set a resource, if that is Theirs or was.
func (c *Container) SetBy(m *sizing.Measure) string { return c.rarely().manager[m.Index] }
