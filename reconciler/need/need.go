package need

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// Need is what one resource of a container needs: what its author wrote, unless a recommendation says otherwise.
type Need struct {
	// Authored is the request and the limit that the author wrote, or that stand for an adopted size, in
	// millicores or bytes. Unknown amounts are 0.
	Authored sizing.Amount
	// Recommended is what the resource needs according to usage; nil if it needs what its author wrote.
	Recommended *Recommendation
	// Withheld is why no recommendation counts, so that the resource needs what its author wrote; empty if any may count.
	Withheld string
	// Share is which part of its rest the resource gets on the node, from 0 to 1, if it shares that with its neighbors.
	Share float64
	// Bounds limit the request on any node.
	Bounds *sizing.Range
	// Largest is what the largest node has; 0 if that is unknown, or is not less than what is needed.
	Largest int64
}

// within returns the bounds of a request according to usage on any node.
func (n *Need) within() sizing.Range {
	within := *n.Bounds
	if n.Largest > 0 && (within.Max == 0 || n.Largest < within.Max) {
		within.Max = max(n.Largest, within.Min)
	}
	return within
}

// Request returns the request on the baseline; 0 if nothing is known. It is more than the recommendation if that was seen to
// be too small. guaranteed means that the class of the pod requires limits equal to requests.
func (n *Need) Request(m *sizing.Measure, guaranteed bool) int64 {
	if n.Recommended == nil {
		return n.Authored.Request
	}
	if n.shares(guaranteed) {
		return between(n.atShare(m, 0), n.atShare(m, 1), n.Share, 1)
	}
	return max(n.target(m, guaranteed), n.floor(m, guaranteed))
}

// atShare returns the request on the baseline with another share of the rest.
func (n *Need) atShare(m *sizing.Measure, share float64) int64 {
	as := *n
	as.Share = share
	return max(as.target(m, false), as.floor(m, false))
}

// between returns the least amount and a share of what the most exceeds it by, in whole units. Limits of a request apply to both:
// otherwise, neighbors could get more together than their node has set aside for their rests.
func between(least, most int64, share float64, unit int64) int64 {
	part := sizing.Share(most-least, share)
	return least + min(most-least, (part+unit-1)/unit*unit)
}

// scaled returns the request on a node whose factor is f, and whether a bound determined it.
func (n *Need) scaled(m *sizing.Measure, f sizing.Factor, guaranteed bool) (size sizing.Amount, clamped bool) {
	size, clamped = m.Scale(sizing.Amount{Request: n.Request(m, guaranteed)}, f, n.within())
	if !n.shares(guaranteed) {
		return size, clamped
	}
	least, raised := m.Scale(sizing.Amount{Request: n.atShare(m, 0)}, f, n.within())
	most, lowered := m.Scale(sizing.Amount{Request: n.atShare(m, 1)}, f, n.within())
	if raised || lowered {
		size.Request = between(least.Request, most.Request, n.Share, m.Unit)
		clamped = raised && size.Request == least.Request || lowered && size.Request == most.Request
	}
	return size, clamped
}

// target returns the recommended request on the baseline, up to a multiple of what the author wrote.
func (n *Need) target(m *sizing.Measure, guaranteed bool) int64 {
	request := min(max(1, n.Wanted(guaranteed)), m.Most) // A resize cannot remove a request.
	if most := n.grown(n.Authored.Request); most > 0 {
		request = min(request, most)
	}
	return request
}

// shares reports whether the resource shares with its neighbors, given a recommendation. A Guaranteed pod shares nothing: its
// limits are its requests, so that its neighbors could leave it nothing.
func (n *Need) shares(guaranteed bool) bool { return n.Recommended.Steady > 0 && !guaranteed }

// Shared is a demand on the baseline that a resource shares with its neighbors: it gets the steady part, and the share of the
// rest up to the peak. Unshared is what it would get if it shared nothing, which its limit follows.
type Shared struct {
	Steady, Peak, Unshared int64
	Share                  float64
}

// Shared returns the parts of what the resource needs; false if it shares nothing.
func (n *Need) Shared(guaranteed bool) (parts Shared, shares bool) {
	if n.Recommended == nil || !n.shares(guaranteed) {
		return parts, false
	}
	r := n.Recommended
	return Shared{r.Steady, r.Steady + r.Rest, r.Target, n.Share}, true
}

// Wanted returns the recommended request on the baseline: what the resource needs most of the time, and its share of the rest.
func (n *Need) Wanted(guaranteed bool) int64 {
	if r := n.Recommended; n.shares(guaranteed) {
		return r.Steady + sizing.Share(r.Rest, n.Share)
	}
	return n.Recommended.Target
}

// Outgrown reports whether usage shows more than a multiple of what the author wrote, which is all that the resource gets. Of one
// that is shared, both amounts are for the peak.
func (n *Need) Outgrown(m *sizing.Measure, guaranteed bool) (shows, gets int64, outgrown bool) {
	if n.Recommended == nil {
		return 0, 0, false
	}
	as := *n
	as.Share = 1
	shows = as.Wanted(guaranteed)
	return shows, as.Request(m, guaranteed), as.target(m, guaranteed) < min(shows, m.Most)
}

// grown returns how much an amount that the author wrote may grow to; 0 means any amount.
func (n *Need) grown(authored int64) int64 {
	if n.Recommended.Rules.MaxGrowth == 0 {
		return 0
	}
	return times(authored, n.Recommended.Rules.MaxGrowth)
}

// most returns the most that a request may get on the baseline; 0 means any amount.
func (n *Need) most() int64 {
	most, grown := n.Recommended.Max, n.grown(n.Authored.Request)
	if most == 0 || 0 < grown && grown < most {
		return grown
	}
	return most
}

// On returns the size of the need on a node whose factor is f, and whether a bound determined its request.
// guaranteed means that the class of the pod requires limits equal to requests.
func (n *Need) On(m *sizing.Measure, f sizing.Factor, guaranteed bool) (size sizing.Amount, clamped bool) {
	if n.Recommended == nil {
		return m.Scale(n.Authored, f, *n.Bounds)
	}
	size, clamped = n.scaled(m, f, guaranteed)
	size.Limit = n.limit(m, size.Request, f, guaranteed)
	return size, clamped
}

// limit returns the limit that belongs to a request of a recommended need on a node. Like the request, it does not grow
// beyond a multiple of what the author wrote.
func (n *Need) limit(m *sizing.Measure, request int64, f sizing.Factor, guaranteed bool) int64 {
	return n.atMost(m, n.follow(m, request, f, guaranteed), request, f)
}

// atMost returns a limit up to a multiple of what the author wrote.
func (n *Need) atMost(m *sizing.Measure, limit, request int64, f sizing.Factor) int64 {
	if most := alone(m, n.grown(n.Authored.Limit), f); 0 < most && most < limit {
		limit = n.above(m, most, request)
	}
	return limit
}

// follow returns the limit that follows from a request of a recommended need on a node.
func (n *Need) follow(m *sizing.Measure, request int64, f sizing.Factor, guaranteed bool) int64 {
	limits, authored := &n.Recommended.Rules.Limits, n.Authored
	if authored.Limit == 0 {
		return 0
	}
	mode := limits.mode(m, guaranteed)
	if mode == None {
		mode = Keep // A resize cannot remove a limit.
	}
	if mode == Keep || mode == Peak {
		authored.Limit = alone(m, authored.Limit, f)
	}
	limit := limits.limit(mode, max(request, n.unshared(m, f, guaranteed)), alone(m, n.Recommended.Peak, f), authored)
	if mode.apart() {
		limit = max(limit, alone(m, n.Recommended.Floor.Limit, f))
	}
	return n.above(m, limit, request)
}

// unshared returns the request on a node if the resource shared nothing; 0 if it shares nothing. Limits follow that, so that a
// container which shares can use as much as one that does not.
func (n *Need) unshared(m *sizing.Measure, f sizing.Factor, guaranteed bool) int64 {
	if !n.shares(guaranteed) {
		return 0
	}
	target := *n.Recommended
	target.Steady = 0
	as := Need{Authored: n.Authored, Recommended: &target, Bounds: n.Bounds, Largest: n.Largest}
	size, _ := m.Scale(sizing.Amount{Request: as.Request(m, false)}, f, as.within())
	return size.Request
}

// above returns a limit that is not below its request, and above it if the author wrote it so: the QoS class depends on it.
func (n *Need) above(m *sizing.Measure, limit, request int64) int64 {
	if 0 < n.Authored.Request && n.Authored.Request < n.Authored.Limit {
		request += m.Unit
	}
	return min(max(limit, request), m.Most)
}

// MayHave reports whether a recommendation may have led to a limit on a node whose factor is f, given that the request
// is within bounds. A limit that is a multiple is lowered later than the request that it belongs to, and a limit that
// follows the peak may be of a peak that has been forgotten.
func (n *Need) MayHave(m *sizing.Measure, size sizing.Amount, f sizing.Factor, guaranteed bool) bool {
	if n.Recommended == nil {
		return false
	}
	most := size.Request
	switch n.Recommended.Rules.Limits.mode(m, guaranteed) {
	case Peak:
		grown := alone(m, n.grown(n.Authored.Limit), f)
		return grown == 0 || size.Limit <= max(grown, n.above(m, 0, size.Request))
	case Multiple:
		if most = n.Bounds.Max; most == 0 { // The largest node may have been larger.
			return true
		}
	}
	return size.Limit <= n.follow(m, most, f, guaranteed)
}

// alone returns an amount on a node.
func alone(m *sizing.Measure, amount int64, f sizing.Factor) int64 {
	size, _ := m.Scale(sizing.Amount{Request: max(0, amount)}, f, sizing.Range{})
	return size.Request
}
