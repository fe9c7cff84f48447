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
