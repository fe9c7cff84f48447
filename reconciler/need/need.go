package need

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// Source is where a need comes from.
type Source uint8

const (
	// Authored: the author of the pod wrote it.
	Authored Source = iota
	// Recommended: usage shows it.
	Recommended
	// Boosted: it is raised for a time, as while a container starts.
	Boosted
)

// String returns the source as users see it.
func (s Source) String() string {
	switch s {
	case Recommended:
		return "recommended"
	case Boosted:
		return "boosted"
	}
	return "authored"
}

// Need is what one resource of a container needs.
type Need struct {
	// Amount is the request, and the limit that belongs to it, on the baseline: in millicores or bytes. The
	// request is 0 if nothing is known.
	Amount sizing.Amount
	Source Source
	// Confidence is from 0 (a guess) to 1. A need that an author wrote has 1.
	Confidence float32
	// Bounds limit the request on any node.
	Bounds sizing.Range
}

// AsAuthored returns the need that an author wrote.
func AsAuthored(amount sizing.Amount, bounds sizing.Range) Need {
	return Need{Amount: amount, Source: Authored, Confidence: 1, Bounds: bounds}
}

// On returns the size of the need on a node whose factor is f, and whether a bound determined its request.
func (n *Need) On(m *sizing.Measure, f sizing.Factor) (size sizing.Amount, clamped bool) {
	return m.Scale(n.Amount, f, n.Bounds)
}
