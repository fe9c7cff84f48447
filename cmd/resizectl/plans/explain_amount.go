package plans

import (
	"math"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// amount is the request and the limit of one resource, as quantities; empty if there is
// none.
type amount struct{ request, limit string }

func amountOf(r *workloadresizerv1.Resources, name string) amount {
	return amount{r.GetRequests()[name], r.GetLimits()[name]}
}

// String returns e.g. "1Gi, limit 2Gi".
func (a amount) String() string {
	if a.limit == "" {
		return print.OrAbsent(a.request)
	}
	return print.OrAbsent(a.request) + ", limit " + a.limit
}

// The result is an original for display next to the current amount. It marks a limit without
// an original.
func (a amount) beside(current amount) amount {
	if a.limit == "" && current.limit != "" {
		a.limit = "unknown"
	}
	return a
}

// arithmetic checks whether sizes are the result of the arithmetic in an explanation. Only
// the server computes sizes. But it does not say which of them it left as they are, and an
// explanation must not show arithmetic with another result.
type arithmetic struct {
	original amount
	by       float64
	bounds   *workloadresizerv1.QuantityRange
	// rounding is how much the server may have rounded by.
	rounding float64
}

// roundings are a millicore and a Mi, by resource.
var roundings = map[string]float64{"cpu": 0.001, "memory": 1 << 20}

func (a arithmetic) toRequest(desired amount) bool {
	want := number(a.original.request) * a.by
	if most := number(a.bounds.GetMax()); most > 0 {
		want = min(want, most)
	}
	return a.near(number(desired.request), max(want, number(a.bounds.GetMin())))
}

// toLimit checks the limit, given a request that toRequest confirms.
func (a arithmetic) toLimit(desired amount) bool {
	request, limit := number(a.original.request), number(a.original.limit)
	if request == 0 || limit == request {
		return desired.limit == desired.request
	}
	now := number(desired.request)
	return a.near(number(desired.limit), max(now+a.rounding, min(limit*a.by, limit*now/request)))
}

func (a arithmetic) near(size, want float64) bool { return math.Abs(size-want) < a.rounding }

// number returns a quantity as a number, or 0 if it is not a quantity.
func number(quantity string) float64 {
	q, err := resource.ParseQuantity(quantity)
	if err != nil {
		return 0
	}
	return q.AsApproximateFloat64()
}
