package need

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// Boosted returns the size of the need on a node whose factor is f while the container starts. A boost raises the need on the
// baseline, and its limit with it; a boost of limits raises the limit alone. settled is the size that it gets otherwise, of which
// the request may be that of an earlier need. It gets no less. The limit of a Guaranteed pod stays equal to its request. clamped
// reports whether a bound determined the request.
func (n *Need) Boosted(m *sizing.Measure, by, limits sizing.Boost, settled sizing.Amount, f sizing.Factor, guaranteed bool) (size sizing.Amount, clamped bool) {
	size = settled
	if by.Raises() {
		size, clamped = n.raised(m, by, settled, f, guaranteed)
	}
	if limits.Raises() && settled.Limit != 0 && !guaranteed {
		alone, _ := m.Scale(sizing.Amount{Request: limits.Of(f.Inverse().Up(settled.Limit), m.Most)}, f, sizing.Range{})
		size.Limit = max(size.Limit, alone.Request)
	}
	return size, clamped
}

// raised is Boosted without a boost of limits.
func (n *Need) raised(m *sizing.Measure, by sizing.Boost, settled sizing.Amount, f sizing.Factor, guaranteed bool) (size sizing.Amount, clamped bool) {
	if n.Recommended == nil {
		size, clamped = m.Scale(boosted(m, n.Authored, by), f, *n.Bounds)
		return sizing.Amount{Request: max(size.Request, settled.Request), Limit: max(size.Limit, settled.Limit)}, clamped
	}
	needed := n.Request(m, guaranteed)
	if to, _ := n.On(m, f, guaranteed); to.Request != settled.Request {
		needed = f.Inverse().Up(settled.Request)
	}
	size, clamped = m.Scale(sizing.Amount{Request: by.Of(needed, m.Most)}, f, n.within())
	size.Request = max(size.Request, settled.Request)
	if settled.Limit != 0 {
		size.Limit = n.above(m, max(settled.Limit, inRatio(m, n.Authored, size.Request)), size.Request)
	}
	return size, clamped
}

// boosted returns an amount with a raised request, and a limit in the same ratio to it.
func boosted(m *sizing.Measure, of sizing.Amount, by sizing.Boost) sizing.Amount {
	request := by.Of(of.Request, m.Most)
	return sizing.Amount{Request: request, Limit: inRatio(m, of, request)}
}

// inRatio returns the limit that is to a request as an amount's limit is to its own, or one unit above the request if that is
// more; 0 if it has none. A LimitRange may limit the ratio, so it is rounded down.
func inRatio(m *sizing.Measure, of sizing.Amount, request int64) int64 {
	if of.Request == 0 || of.Limit == 0 {
		return 0
	}
	limit := sizing.Factor{Num: uint64(of.Limit), Den: uint64(of.Request)}.Down(request)
	if of.Limit > of.Request {
		limit = max(limit, request+m.Unit)
	}
	return min(limit, m.Most)
}
