package need

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// Need is what one resource of a container needs: so far, always what its author wrote.
type Need struct {
	// Amount is the request, and the limit that belongs to it, on the baseline: in millicores or bytes. The
	// request is 0 if nothing is known.
	Amount sizing.Amount
	// Bounds limit the request on any node.
	Bounds sizing.Range
}

// On returns the size of the need on a node whose factor is f, and whether a bound determined its request.
func (n *Need) On(m *sizing.Measure, f sizing.Factor) (size sizing.Amount, clamped bool) {
	return m.Scale(n.Amount, f, n.Bounds)
}
