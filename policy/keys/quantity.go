package keys

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Resource describes the quantities that a resource can have. Others are typos, such as
// the suffix of another resource.
type Resource struct {
	least, most resource.Quantity
	// unit is the unit that cannot be divided; empty if there is none.
	unit string
	// example shows how such quantities are written.
	example string
	// amount returns millicores or bytes.
	amount func(*resource.Quantity) int64
	// Text returns an amount as a user writes it.
	Text func(int64) string
}

// The resources.
var (
	CPU    = Resource{resource.MustParse("1m"), resource.MustParse("10k"), "", `cores, such as "50m" or "16"`, (*resource.Quantity).MilliValue, sizing.CPUText}
	Memory = Resource{resource.MustParse("1Mi"), resource.MustParse("1Pi"), "byte", `bytes, such as "64Mi" or "32Gi"`, (*resource.Quantity).Value, memoryText}
)

// memoryText returns an amount with the suffix that its author most likely wrote. The smaller number has it:
// 1500Ki is 1536k, too, and 32G is 31250000Ki.
func memoryText(bytes int64) string {
	number := func(text string) string { return strings.TrimRight(text, "EPTGMKki") }
	binary, decimal := sizing.MemoryText(bytes), resource.NewQuantity(bytes, resource.DecimalSI).String()
	if b, d := number(binary), number(decimal); len(d) < len(b) || len(d) == len(b) && d < b {
		return decimal
	}
	return binary
}

// Bound is an amount in millicores or bytes whose sign is at least leastSign. 0 means that there is no bound.
func (r *Resource) Bound(leastSign int) Kind[int64] { return r.kind(leastSign, "no bound") }

// Most is a bound above 0 that is rounded down, so that amounts never exceed it. Others are rounded up.
func (r *Resource) Most() Kind[int64] {
	down := *r
	down.amount = func(q *resource.Quantity) int64 {
		amount := r.amount(q)
		if up := resource.MustParse(r.Text(amount)); up.Cmp(*q) > 0 {
			amount--
		}
		return amount
	}
	return down.Bound(1)
}

// Amount is an amount in millicores or bytes whose sign is at least leastSign.
func (r *Resource) Amount(leastSign int) Kind[int64] { return r.kind(leastSign, "the default") }

// kind returns a kind of amounts. omitted is what applies if the quantity is omitted.
func (r *Resource) kind(leastSign int, omitted string) Kind[int64] {
	return Kind[int64]{Values: "a quantity", Text: r.Text, Read: func(v reader.Value) (int64, bool) {
		text, ok := v.Text()
		q, err := sizing.Quantity(text)
		switch {
		case !ok || err != nil:
			v.Fault("must be a quantity such as \"50m\" or \"64Mi\", not %s", v)
		case q.Sign() < leastSign:
			v.Fault("%s is too small; omit it for %s", v, omitted)
		case q.Cmp(r.most) > 0:
			v.Fault("%s is more than %s, which no machine has; specify %s, or omit it for %s", v, r.most.String(), r.example, omitted)
		case r.unit != "" && q.Cmp(*resource.NewQuantity(q.Value(), q.Format)) != 0:
			v.Fault("%s has a fraction of a %s; specify %s", v, r.unit, r.example)
		case q.Sign() > 0 && q.Cmp(r.least) < 0:
			v.Fault("%s is less than %s; specify %s", v, r.least.String(), r.example)
		default:
			return r.amount(&q), true
		}
		return 0, false
	}}
}
