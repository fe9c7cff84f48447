package print

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Change returns "current → desired", in the color of what that means for the node, or just
// one value if they are equal.
func Change(current, desired string) Cell {
	if current == desired {
		return Cell{Text: OrAbsent(current)}
	}
	return Cell{OrAbsent(current) + " → " + OrAbsent(desired), ChangeStyle(current, desired)}
}

// ChangeStyle returns the style of a change: less frees, more adds.
func ChangeStyle(current, desired string) Style {
	from, err := resource.ParseQuantity(current)
	if err != nil {
		return Plain
	}
	to, err := resource.ParseQuantity(desired)
	if err != nil {
		return Plain
	}
	switch from.Cmp(to) {
	case 1:
		return Freed
	case -1:
		return Added
	}
	return Plain
}

// Asked returns "request/limit" of one resource, or Absent if there is neither.
func Asked(r *workloadresizerv1.Resources, resource string) string {
	request, limit := r.GetRequests()[resource], r.GetLimits()[resource]
	if request == "" && limit == "" {
		return Absent
	}
	return OrAbsent(request) + "/" + OrAbsent(limit)
}

// FreedOrAdded returns how much requests change, e.g. "1500m freed" for "-1500m".
func FreedOrAdded(quantity string) Cell {
	amount, less := strings.CutPrefix(OneLine(quantity), "-")
	switch {
	case amount == "" || amount == "0":
		return Cell{Text: Absent}
	case less:
		return Cell{amount + " freed", Freed}
	}
	return Cell{amount + " added", Added}
}

// Demand returns what a container needs of a resource. Needs of memory follow from usage in bytes: people read whole Mi,
// rounded up.
func Demand(name, amount string) string {
	const mebibyte, most = 1 << 20, 1 << 60
	if q, err := resource.ParseQuantity(amount); name == "memory" && err == nil && q.CmpInt64(mebibyte) > 0 && q.CmpInt64(most) <= 0 {
		whole := (q.Value()-1)/mebibyte + 1
		amount = resource.NewQuantity(whole*mebibyte, resource.BinarySI).String()
	}
	return OrAbsent(OneLine(amount))
}
