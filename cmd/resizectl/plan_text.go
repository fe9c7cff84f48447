package main

import (
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

// dimmed makes a row one that nobody has to look at.
func dimmed(cells []any) {
	for i, cell := range cells {
		if c, ok := cell.(painted); ok {
			cell = c.text
		}
		cells[i] = painted{cell.(string), dim}
	}
}

func decisionText(d workloadresizerv1.Decision) string {
	switch d {
	case workloadresizerv1.Decision_DECISION_RESIZE:
		return "resize"
	case workloadresizerv1.Decision_DECISION_ALIGNED:
		return "aligned"
	case workloadresizerv1.Decision_DECISION_SKIP:
		return "skip"
	}
	// A newer server may decide what this version does not know.
	return d.String()
}

func verdict(d workloadresizerv1.Decision) string {
	switch d {
	case workloadresizerv1.Decision_DECISION_RESIZE:
		return "would be resized"
	case workloadresizerv1.Decision_DECISION_ALIGNED:
		return "is aligned"
	case workloadresizerv1.Decision_DECISION_SKIP:
		return "is left alone"
	}
	return d.String()
}
