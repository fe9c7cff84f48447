package need

import "github.com/workload-resizer/workload-resizer/reconciler/sizing"

// near is the share of its memory limit that a container uses which may be about to be killed. A decrease leaves more
// room than that.
const near = 0.95

// Endangered reports whether a container that uses this much memory may be about to be killed because of its limit, which
// is 0 if there is none.
func Endangered(uses, limit int64) bool {
	return limit > 0 && float64(uses) >= near*float64(limit) && withRoom(uses) > limit
}

// rescue raises memory immediately if the container may be about to be killed: waiting would save no resize. The limit
// then exceeds what is in use as if that were its peak. It has become the peak by the next publication, so that the new
// size stays for as long as the peak is in the history.
func (s *State) rescue(memory *change) {
	n := &s.Needs[sizing.Memory.Index]
	if n.Recommended == nil || !Endangered(s.Uses, s.Size.Memory.Limit) {
		return
	}
	least := n.requestFor(sizing.Memory, abovePeak(s.Uses), s.Guaranteed)
	if memory.most > 0 {
		least = min(least, memory.most)
	}
	if memory.to = max(memory.to, least); memory.to > memory.from {
		memory.lower, memory.upper = max(memory.lower, memory.to), max(memory.upper, memory.to)
	}
}

// rescueLimit raises a limit that follows the peak if the container may be about to be killed, as if what is in use were
// the peak, but at least to what is above it.
func (s *State) rescueLimit(limit *int64, request int64) {
	if *limit == 0 || s.mode() != Peak || !Endangered(s.Uses, s.Size.Memory.Limit) {
		return
	}
	n := &s.Needs[sizing.Memory.Index]
	to := max(times(s.Uses, n.Recommended.Rules.Limits.MemoryMultiple), abovePeak(s.Uses))
	*limit = max(*limit, n.atMost(sizing.Memory, to, request, s.Factors[sizing.Memory.Index]))
}
