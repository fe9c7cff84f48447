package prometheus

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Element is an element of a vector: a value, and the labels that say of which pod or workload it is.
type Element struct {
	Namespace, Pod, Workload string
	Value                    float64
}

// Vector passes the elements of the vector of a query at a time to take, in no particular order. It is an error if some of it
// may be missing. After an error, the elements say nothing. In the query, nothing is replaced. The query is sent once: callers
// ask again soon, and the answer to another query must not be late because a Prometheus is busy.
func (s *Source) Vector(ctx context.Context, query string, at time.Time, take func(Element)) error {
	a := s.begin()
	a.vector = &vector{take: take}
	_, warnings, _, err := a.api.Query(ctx, query, at)
	if err != nil {
		return s.fault(err)
	}
	a.warn(warnings)
	if err := a.incomplete(); err != nil {
		return err
	}
	switch kind := a.vector.kind; kind {
	case "vector":
		return nil
	case "":
		return errors.New("the answer is nothing instead of a vector")
	default:
		return s.fault(fmt.Errorf("the answer is a %s instead of a vector", kind))
	}
}
