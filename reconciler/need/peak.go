package need

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// room is by how much a memory limit exceeds the highest usage that is known: as much as usage/history adds to what a
// killed container had.
const room = 1.2

// abovePeak returns the least limit for the highest usage that is known. It is not near that, so that the same usage does
// not raise the limit again.
func abovePeak(usage int64) int64 { return times(usage, room) }

// peakRequest returns the request below which memory is not lowered because of the replica's own peak. Percentiles of
// the usage of many replicas do not show what one of them needs, such as a leader. Where the limit follows the
// request, that must not become too low either. A container that shares memory gets its peak from what its node keeps free for
// that, and its limit does not follow the request.
func (s *State) peakRequest() int64 {
	n := &s.Needs[sizing.Memory.Index]
	if n.Recommended == nil || n.shares(s.Guaranteed) {
		return 0
	}
	return max(s.Peak, n.requestFor(sizing.Memory, abovePeak(s.Peak), s.Guaranteed))
}

// requestFor returns the request to which a limit belongs that follows the request; 0 if it does not follow.
func (n *Need) requestFor(m *sizing.Measure, limit int64, guaranteed bool) int64 {
	authored := n.Authored
	if authored.Limit == 0 || n.Recommended.Rules.Limits.mode(m, guaranteed) != Follow {
		return 0
	}
	return times(limit, float64(authored.Request)/float64(authored.Limit))
}

// outgrown returns the request of memory without the bound of growth. If an administrator lowers that bound, memory is not
// lowered below what usage shows: the peaks of replicas are known only where they exceed that.
func (s *State) outgrown() int64 {
	n := &s.Needs[sizing.Memory.Index]
	rules := *n.Recommended.Rules
	rules.MaxGrowth = 0
	r := *n.Recommended
	r.Rules = &rules
	unbounded := Need{Authored: n.Authored, Recommended: &r, Share: n.Share}
	return alone(sizing.Memory, unbounded.Request(sizing.Memory, s.Guaranteed), s.Factors[sizing.Memory.Index])
}

// holdAt keeps a request that would be lowered at an amount, or at the present one if that is less. why says why, given
// an amount.
func (c *change) holdAt(amount int64, why string, of int64) {
	if c.to >= c.from || c.to >= amount {
		return
	}
	c.to = min(c.from, amount)
	c.upper = max(c.upper, c.to)
	if c.why == "" {
		c.why = fmt.Sprintf(why, c.measure.Text(of))
	}
}
