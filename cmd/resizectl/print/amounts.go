package print

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Resource is a resource, and how people read its amounts.
type Resource struct {
	// Title begins the headers of its columns, and Name is its name in the API.
	Title, Name string
	Text        func(resource.Quantity) string
}

// The resources that are sized.
var (
	CPU    = Resource{"CPU", "cpu", cores}
	Memory = Resource{"Memory", "memory", bytesOf}
)

// Of returns the amount of the resource.
func (r Resource) Of(a *workloadresizerv1.ResourceAmounts) string {
	if r.Name == CPU.Name {
		return a.GetCpu()
	}
	return a.GetMemory()
}

// Number returns an amount of the API in a unit, as a number; 0 if it is none.
func Number(amount string, unit float64) float64 {
	q, err := sizing.Quantity(amount)
	if err != nil {
		return 0
	}
	return q.AsApproximateFloat64() / unit
}

// Percent returns how much one amount is of another, e.g. "57%"; Absent if that is not known.
func Percent(part, whole string) string {
	of, err := sizing.Quantity(part)
	all, err2 := sizing.Quantity(whole)
	if err != nil || err2 != nil || all.IsZero() {
		return Absent
	}
	return fmt.Sprintf("%.0f%%", 100*of.AsApproximateFloat64()/all.AsApproximateFloat64())
}

// Amount returns an amount of the API for people.
func (r Resource) Amount(amount string) string {
	q, err := sizing.Quantity(amount)
	if err != nil {
		return OrAbsent(OneLine(amount))
	}
	return r.Text(q)
}

// Change returns "from → to" for two amounts of the API, or one of them if people read the same.
func (r Resource) Change(from, to string) Cell {
	cell := Change(r.Amount(from), r.Amount(to))
	if cell.Style != Plain {
		cell.Style = ChangeStyle(from, to)
	}
	return cell
}

// cores returns an amount of CPU for people, e.g. "1500m" or "12.3".
func cores(q resource.Quantity) string {
	millis := q.MilliValue()
	switch size := max(millis, -millis); {
	case size < 10_000:
		return resource.NewMilliQuantity(millis, resource.DecimalSI).String()
	case size < 1_000_000:
		return tenths(float64(millis) / 1000)
	}
	return strconv.FormatInt(millis/1000, 10)
}

// bytesOf returns an amount of memory for people, in Mi or larger units unless it is tiny, e.g. "345Mi"
// or "12.3Gi".
func bytesOf(q resource.Quantity) string {
	const mi, gi = 1 << 20, 1 << 30
	n := q.Value()
	switch size := max(n, -n); {
	case size < mi:
		return resource.NewQuantity(n, resource.BinarySI).String()
	case size < 10*gi:
		rounded := (size + mi/2) / mi * mi
		if n < 0 {
			rounded = -rounded
		}
		return resource.NewQuantity(rounded, resource.BinarySI).String()
	case size < 1000*gi:
		return tenths(float64(n)/gi) + "Gi"
	}
	return strconv.FormatInt(n/gi, 10) + "Gi"
}

// tenths returns a number with one digit after the point, unless that is 0.
func tenths(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}
