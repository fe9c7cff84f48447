package prometheus

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/common/model"
)

// Element is an element of a vector.
type Element struct {
	Labels model.Metric
	Value  float64
}

// Vector returns the vector of a query at a time, in no particular order. It is an error if some of it may
// be missing. In the query, nothing is replaced. The query is sent once: callers ask again soon, and the answer to
// another query must not be late because a Prometheus is busy.
func (s *Source) Vector(ctx context.Context, query string, at time.Time) ([]Element, error) {
	a := s.begin()
	a.once = true
	value, warnings, _, err := a.api.Query(ctx, query, at)
	if err != nil {
		return nil, s.fault(err)
	}
	a.warn(warnings)
	if err := a.incomplete(); err != nil {
		return nil, err
	}
	vector, ok := value.(model.Vector)
	if !ok {
		kind := "nothing"
		if value != nil {
			kind = "a " + value.Type().String()
		}
		return nil, fmt.Errorf("the answer is %s instead of a vector", kind)
	}
	elements := make([]Element, 0, len(vector))
	for _, sample := range vector {
		if sample != nil {
			elements = append(elements, Element{sample.Metric, float64(sample.Value)})
		}
	}
	return elements, nil
}
