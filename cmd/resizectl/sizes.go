package main

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// change is "current → desired", in the colour of what that means for the node, or
// one of them if they are the same.
func change(current, desired string) painted {
	if current == desired {
		return painted{text: orAbsent(current)}
	}
	return painted{orAbsent(current) + " → " + orAbsent(desired), changeStyle(current, desired)}
}

func changeStyle(current, desired string) style {
	from, err := resource.ParseQuantity(current)
	if err != nil {
		return plain
	}
	to, err := resource.ParseQuantity(desired)
	if err != nil {
		return plain
	}
	switch from.Cmp(to) {
	case 1:
		return freed
	case -1:
		return added
	}
	return plain
}

// asked is "request/limit" of one resource, absent if there is neither.
func asked(r *workloadresizerv1.Resources, resource string) string {
	request, limit := r.GetRequests()[resource], r.GetLimits()[resource]
	if request == "" && limit == "" {
		return absent
	}
	return orAbsent(request) + "/" + orAbsent(limit)
}

// freedOrAdded is by how much requests change, e.g. "1500m freed" of "-1500m".
func freedOrAdded(quantity string) painted {
	amount, less := strings.CutPrefix(oneLine(quantity), "-")
	switch {
	case amount == "" || amount == "0":
		return painted{text: absent}
	case less:
		return painted{amount + " freed", freed}
	}
	return painted{amount + " added", added}
}
