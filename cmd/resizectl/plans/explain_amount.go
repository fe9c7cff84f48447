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

// String is e.g. "1Gi, limit 2Gi".
func (a amount) String() string {
	if a.limit == "" {
		return print.OrAbsent(a.request)
	}
	return print.OrAbsent(a.request) + ", limit " + a.limit
}

// beside is an original beside what there is now: a limit that has none is named.
func (a amount) beside(current amount) amount {
	if a.limit == "" && current.limit != "" {
		a.limit = "not known"
	}
	return a
}

// arithmetic tells whether sizes are those that the explanation would have them be. Only
// the server works sizes out; but it does not say which of them it left as they are, and
// an explanation must not give a reckoning that does not come out.
type arithmetic struct {
	original amount
	by       float64
	bounds   *workloadresizerv1.QuantityRange
	// rounding is what the server may have rounded by.
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

// toLimit tells it of the limit beside a request that comes out.
func (a arithmetic) toLimit(desired amount) bool {
	request, limit := number(a.original.request), number(a.original.limit)
	if request == 0 || limit == request {
		return desired.limit == desired.request
	}
	now := number(desired.request)
	return a.near(number(desired.limit), max(now+a.rounding, min(limit*a.by, limit*now/request)))
}

func (a arithmetic) near(size, want float64) bool { return math.Abs(size-want) < a.rounding }

// number is a quantity as a number, 0 if it is none.
func number(quantity string) float64 {
	q, err := resource.ParseQuantity(quantity)
	if err != nil {
		return 0
	}
	return q.AsApproximateFloat64()
}
