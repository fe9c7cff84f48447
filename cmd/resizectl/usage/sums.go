package usage

import (
	"fmt"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// monthHours is the number of hours in a month, as the prices of providers count them.
const monthHours = 730

// sums are sums over the containers in all pods. They are exact.
type sums struct {
	Containers, UnknownContainers int64
	// authored and requested are of all containers, compared and all others of those that are not
	// unknown.
	authored, requested, compared, used, recommended amounts
	// These are per hour; nil if the cost of some of them is not known.
	authoredCost, recommendedCost *float64
}

// read reads the sums of one container.
func (s *sums) read(from *workloadresizerv1.UsageSums) (err error) {
	*s = sums{Containers: from.GetPods(), UnknownContainers: from.GetUnknownPods(), authoredCost: from.AuthoredCost, recommendedCost: from.RecommendedCost}
	for _, part := range []struct {
		name string
		to   *amounts
		from *workloadresizerv1.ResourceAmounts
	}{
		{"authored", &s.authored, from.GetAuthored()}, {"requested", &s.requested, from.GetRequested()}, {"compared", &s.compared, from.GetCompared()},
		{"used", &s.used, from.GetUsed()}, {"recommended", &s.recommended, from.GetRecommended()},
	} {
		if *part.to, err = amountsOf(part.from); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// add adds other sums. A cost that is not known makes the cost of both unknown, unless it is the cost
// of nothing.
func (s *sums) add(o *sums) {
	switch {
	case s.known() == 0:
		s.authoredCost, s.recommendedCost = o.authoredCost, o.recommendedCost
	case o.known() > 0:
		s.authoredCost, s.recommendedCost = plus(s.authoredCost, o.authoredCost), plus(s.recommendedCost, o.recommendedCost)
	}
	s.Containers, s.UnknownContainers = s.Containers+o.Containers, s.UnknownContainers+o.UnknownContainers
	s.authored.add(o.authored)
	s.requested.add(o.requested)
	s.compared.add(o.compared)
	s.used.add(o.used)
	s.recommended.add(o.recommended)
}

func plus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// known is the number of containers with a recommendation.
func (s *sums) known() int64 { return s.Containers - s.UnknownContainers }

// saved is what the recommendations would free.
func (s *sums) saved() amounts { return s.compared.less(s.recommended) }

// savedCost is what the recommendations would save an hour; nil if that is not known.
func (s *sums) savedCost() *float64 {
	if s.authoredCost == nil || s.recommendedCost == nil {
		return nil
	}
	return new(*s.authoredCost - *s.recommendedCost)
}

// unknown is what the authors of the other containers requested.
func (s *sums) unknown() amounts { return s.authored.less(s.compared) }
