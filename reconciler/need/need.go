package need

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// Need is what one resource of a container needs: what its author wrote, unless a recommendation says otherwise.
type Need struct {
	// Authored is the request and the limit that the author wrote, or that stand for an adopted size, in
	// millicores or bytes. Unknown amounts are 0.
	Authored sizing.Amount
	// Recommended is what the resource needs according to usage; nil if it needs what its author wrote.
	Recommended *Recommendation
	// Withheld is why a recommendation does not count, so that the resource needs what its author wrote; empty if there is
	// none, or if it counts.
	Withheld string
	// Bounds limit the request on any node.
	Bounds *sizing.Range
}

// Request returns the request on the baseline; 0 if nothing is known.
func (n *Need) Request(m *sizing.Measure) int64 {
	if n.Recommended == nil {
		return n.Authored.Request
	}
	return min(max(1, n.Recommended.Target), m.Most) // A resize cannot remove a request.
}

// On returns the size of the need on a node whose factor is f, and whether a bound determined its request.
// guaranteed means that the class of the pod requires limits equal to requests.
func (n *Need) On(m *sizing.Measure, f sizing.Factor, guaranteed bool) (size sizing.Amount, clamped bool) {
	if n.Recommended == nil {
		return m.Scale(n.Authored, f, *n.Bounds)
	}
	size, clamped = m.Scale(sizing.Amount{Request: n.Request(m)}, f, *n.Bounds)
	size.Limit = n.limit(m, size.Request, f, guaranteed)
	return size, clamped
}

// limit returns the limit that belongs to a request of a recommended need on a node. If the author wrote it above the
// request, it stays above: the QoS class depends on it.
func (n *Need) limit(m *sizing.Measure, request int64, f sizing.Factor, guaranteed bool) int64 {
	limits, authored := &n.Recommended.Rules.Limits, n.Authored
	if authored.Limit == 0 {
		return 0
	}
	mode := limits.mode(m, guaranteed)
	if mode == None {
		mode = Keep // A resize cannot remove a limit.
	}
	if mode == Keep {
		authored.Limit = alone(m, authored.Limit, f)
	}
	limit := limits.limit(mode, request, authored)
	if 0 < n.Authored.Request && n.Authored.Request < n.Authored.Limit {
		limit = max(limit, request+m.Unit)
	}
	return min(limit, m.Most)
}

// MayHave reports whether a recommendation may have led to a limit on a node whose factor is f, given that the request
// is within bounds. A limit that is a multiple is lowered later than the request that it belongs to.
func (n *Need) MayHave(m *sizing.Measure, size sizing.Amount, f sizing.Factor, guaranteed bool) bool {
	if n.Recommended == nil {
		return false
	}
	most := size.Request
	if n.Recommended.Rules.Limits.mode(m, guaranteed) == Multiple {
		if most = n.Bounds.Max; most == 0 {
			return true
		}
	}
	return size.Limit <= n.limit(m, most, f, guaranteed)
}

// alone returns an amount on a node.
func alone(m *sizing.Measure, amount int64, f sizing.Factor) int64 {
	size, _ := m.Scale(sizing.Amount{Request: max(0, amount)}, f, sizing.Range{})
	return size.Request
}
