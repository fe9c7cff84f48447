package plan

import (
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// settle returns the new amount for the present and the desired amount. A limit that stays is
// not equal to its request, and does not become equal.
func settle(s pod.Standing, r *sizing.Measure, present, to sizing.Amount) sizing.Amount {
	switch {
	case !s.Ours():
		return present
	case s.Claim == pod.LimitStays:
		if to.Limit = present.Limit; to.Limit <= to.Request {
			to.Limit = min(to.Request+r.Unit, r.Most)
		}
	}
	return to
}

// fillOriginals copies what is known about the originals of the pod.
func (p *Plan) fillOriginals(of *pod.Pod) {
	var predecessors []string
	for i := range p.Containers {
		c := &p.Containers[i]
		c.Original, c.standings = c.of.Original, c.of.Standings
		c.unrecorded, c.takesOver, c.outdated = c.of.Unrecorded, c.of.TakesOver, c.of.Outdated
		for _, message := range c.of.Ignored() {
			p.because(contract.AnnotationIgnored, message)
			p.corrected = true
		}
		predecessors = append(predecessors, c.of.Predecessors()...)
	}
	if len(predecessors) > 0 {
		if of.OriginalsBy() != "" {
			predecessors = append(predecessors, of.OriginalsBy())
		}
		slices.Sort(predecessors)
		p.vouches = strings.Join(slices.Compact(predecessors), ",")
	}
}
