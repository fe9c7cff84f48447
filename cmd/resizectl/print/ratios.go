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

// SourceProblem returns what is wrong with a source that is not healthy, and which of its states is
// in effect instead.
func SourceProblem(source *workloadresizerv1.RatioSource) string {
	kept := "no good state yet"
	if source.GetLastGoodTime() != nil {
		kept = "its state of " + Timestamp(source.GetLastGoodTime()) + " stays in effect"
	}
	return fmt.Sprintf("source %s is not healthy: %s (%s)", OneLine(source.GetName()), OneLine(source.GetMessage()), kept)
}

// WithoutRatio returns how many pods are skipped because of the type of their nodes.
func WithoutRatio(found *workloadresizerv1.NodeTypeWithoutRatio) string {
	skipped := CountOf(found.GetPods(), "pod") + " on " + CountOf(found.GetNodes(), "node")
	if found.GetNodeType() == "" {
		return skipped + " without a label for the node type: not resized (NodeTypeUnlabelled)"
	}
	return fmt.Sprintf("%s of type %s, which has no ratio: not resized (UnknownNodeType)", skipped, OneLine(found.GetNodeType()))
}
