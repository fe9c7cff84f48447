package plans

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// PrintTotals prints the totals of the plans: the number of pods by decision, the change in
// their requests, and why the other pods are not resized.
func PrintTotals(w io.Writer, p print.Painter, s *workloadresizerv1.PlanSummary) error {
	text := fmt.Sprintf("%s: %d to resize, %d aligned, %d skipped", print.CountOf(s.GetPods(), "pod"), s.GetResize(), s.GetAligned(), s.GetSkip())
	if s.GetIncomplete() {
		text += ", without namespaces that you cannot see"
	}
	text += "\n"
	if delta := deltaText(p, s.GetRequestDelta()); delta != "" {
		text += "requests: " + delta + "\n"
	}
	if codes := countsText(s.GetCodes()); codes != "" {
		text += "reasons: " + codes + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// deltaText returns e.g. "cpu 1500m freed, memory 2Gi added" for {"cpu": "-1500m",
// "memory": "2Gi"}.
func deltaText(p print.Painter, delta map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(delta)) {
		part := print.FreedOrAdded(delta[name])
		parts = append(parts, print.OneLine(name)+" "+p.Paint(part.Style, part.Text))
	}
	return strings.Join(parts, ", ")
}

// countsText returns e.g. "3 NotOwned, 1 Paused", most frequent first.
func countsText(counts map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", counts[name], print.OneLine(name))
	}
	return strings.Join(names, ", ")
}
