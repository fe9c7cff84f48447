package benchmarks

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// maxReason is the maximum length of the reason for a change, in bytes.
const maxReason = 512

// acceptReason returns the reason for the history: the user's own reason, and then the
// benchmarks that the override is from. It names as many benchmarks as there is room for,
// and never cuts the user's reason.
func acceptReason(says string, s *workloadresizerv1.Suggestion) string {
	reason := "accepted from benchmarks"
	if says != "" {
		reason = says + "; " + reason
	}
	var parts []string
	for _, part := range countedParts(s) {
		parts = append(parts, fmt.Sprintf("%s %.3g", print.OneLine(part.GetBenchmark()), part.GetRatio()))
	}
	for named := len(parts); named > 0; named-- {
		text := reason + ": " + strings.Join(parts[:named], ", ")
		if left := len(parts) - named; left > 0 {
			text += fmt.Sprintf(" and %d more", left)
		}
		if len(text) <= maxReason {
			return text
		}
	}
	if len(reason) <= maxReason {
		return reason
	}
	return says
}
