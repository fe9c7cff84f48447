package pod

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// Claim determines whether the reconciler may change the request and limit of one
// resource of a container.
type Claim uint8

const (
	// Scales: request and limit are scaled from the original.
	Scales Claim = iota
	// LimitStays: the limit was added after the author wrote the pod, for example from the
	// default of a LimitRange during a resize; it stays unchanged.
	LimitStays
	// Lost: the original is unknown, so nothing changes.
	Lost
	// Theirs: another actor set the request or the limit.
	Theirs
)

// Standing is the claim on a resource, and which of its amounts another actor set.
type Standing struct {
	Claim
	// Set has a bit (1 << contract.Original) for each amount that another actor set and
	// that can be adopted, Adopted for each amount that was adopted.
	Set, Adopted uint8
}

// Ours reports whether the reconciler may change the sizes.
func (s Standing) Ours() bool { return s.Claim == Scales || s.Claim == LimitStays }

// WhyLost returns the reason why the original of a resource is lost; empty if it is not.
func (c *Container) WhyLost(m *sizing.Measure) string { return c.rarely().why[m.Index] }

// SetBy returns the field manager that set a resource whose claim is or was Theirs.
func (c *Container) SetBy(m *sizing.Measure) string { return c.rarely().manager[m.Index] }
