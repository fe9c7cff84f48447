package print

import workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"

// Freeze describes a freeze, e.g. "the cluster is frozen since …, by ann: outage".
func Freeze(f *workloadresizerv1.Freeze) string {
	text := "the cluster is frozen since " + Timestamp(f.GetCreateTime())
	if f.GetAuthor() != "" {
		text += ", by " + OneLine(f.GetAuthor())
	}
	if f.GetReason() != "" {
		text += ": " + OneLine(f.GetReason())
	}
	return text
}
