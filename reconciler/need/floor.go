package need

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// Tolerated returns the least and the largest request on the baseline that a pod keeps although a recommendation differs.
func (n *Need) Tolerated(m *sizing.Measure, guaranteed bool) (lower, upper int64) {
	floor := n.floor(m, guaranteed)
	return max(n.Recommended.Lower, times(floor, proven)), max(n.Recommended.Upper, floor)
}

// floor returns the least request, because smaller ones were seen to be too small, or the limits that follow from them; 0 if
// none was. It does not exceed what the container may get.
func (n *Need) floor(m *sizing.Measure, guaranteed bool) int64 {
	floor := &n.Recommended.Floor
	least := min(max(floor.Request, n.requestFor(m, floor.Limit, guaranteed)), m.Most)
	if most := n.most(); most > 0 {
		least = min(least, most)
	}
	return least
}

// proven is the share of a floor that was seen to be too small.
const proven = 1 / room
