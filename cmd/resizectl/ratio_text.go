package main

import (
	"fmt"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func rangeText(r *workloadresizerv1.QuantityRange) string {
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

// provenanceText is "configmap (kubectl, 2026-10-01T12:30:00Z: measured)".
func provenanceText(from *workloadresizerv1.Provenance) string {
	var who []string
	if from.GetAuthor() != "" {
		who = append(who, oneLine(from.GetAuthor()))
	}
	if from.GetUpdateTime() != nil {
		who = append(who, timestamp(from.GetUpdateTime()))
	}
	says := strings.Join(who, ", ")
	if from.GetReason() != "" {
		says += ": " + oneLine(from.GetReason())
	}
	if says == "" {
		return orAbsent(oneLine(from.GetSource()))
	}
	return fmt.Sprintf("%s (%s)", orAbsent(oneLine(from.GetSource())), says)
}
