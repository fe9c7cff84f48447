package print

import (
	"fmt"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Queue returns how many pods wait, and for what.
func Queue(s *workloadresizerv1.GetStatusResponse) string {
	text := fmt.Sprintf("%s to process, %s waiting for a turn", CountOf(s.GetQueueLength(), "pod"), CountOf(s.GetRealignBacklog(), "pod"))
	if n := s.GetFreedBacklog(); n > 0 {
		text += fmt.Sprintf(" (%d of them until resizes may free more: see pace.freedPerHour in the configuration)", n)
	}
	return text
}
