package plans

import (
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// dimmed dims a row that needs no attention.
func dimmed(cells []any) {
	for i, cell := range cells {
		if c, ok := cell.(print.Cell); ok {
			cell = c.Text
		}
		cells[i] = print.Cell{Text: cell.(string), Style: print.Dim}
	}
}

func verdict(plan *workloadresizerv1.Plan) string {
	switch plan.GetDecision() {
	case workloadresizerv1.Decision_DECISION_RESIZE:
		return "would be resized"
	case workloadresizerv1.Decision_DECISION_ALIGNED:
		return "is aligned"
	case workloadresizerv1.Decision_DECISION_SKIP:
		return "is skipped"
	}
	return plan.GetDecision().String()
}
