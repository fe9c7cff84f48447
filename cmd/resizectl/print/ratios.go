package print

import (
	"fmt"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Range returns bounds in words, e.g. "50m to 16".
func Range(r *workloadresizerv1.QuantityRange) string {
	least, most := r.GetMin(), r.GetMax()
	switch {
	case least != "" && most != "":
		return least + " to " + most
	case least != "":
		return "at least " + least
	case most != "":
		return "at most " + most
	}
	return "unbounded"
}

// Provenance returns e.g. "configmap (kubectl, 2026-10-01T12:30:00Z: measured)".
func Provenance(from *workloadresizerv1.Provenance) string {
	var who []string
	if from.GetAuthor() != "" {
		who = append(who, OneLine(from.GetAuthor()))
	}
	if from.GetUpdateTime() != nil {
		who = append(who, Timestamp(from.GetUpdateTime()))
	}
	says := strings.Join(who, ", ")
	if from.GetReason() != "" {
		says += ": " + OneLine(from.GetReason())
	}
	if says == "" {
		return OrAbsent(OneLine(from.GetSource()))
	}
	return fmt.Sprintf("%s (%s)", OrAbsent(OneLine(from.GetSource())), says)
}
