package plans

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// PrintTotals prints the totals of the plans: the number of pods by decision, the change in
// their requests, and why the other pods are not resized.
func PrintTotals(w io.Writer, p print.Painter, s *workloadresizerv1.PlanSummary) error {
	_, err := io.WriteString(w, strings.Join(Totals(p, s), "\n")+"\n")
	return err
}

// Totals returns the lines of PrintTotals.
func Totals(p print.Painter, s *workloadresizerv1.PlanSummary) (lines []string) {
	text := fmt.Sprintf("%s: %d to resize, %d aligned, %d skipped", print.CountOf(s.GetPods(), "pod"), s.GetResize(), s.GetAligned(), s.GetSkip())
	if s.GetIncomplete() {
		text += ", without namespaces that you cannot see"
	}
	lines = append(lines, text)
	if delta := deltaText(p, s.GetRequestDelta()); delta != "" {
		lines = append(lines, "requests: "+delta)
	}
	if codes := countsText(s.GetCodes()); codes != "" {
		lines = append(lines, "reasons: "+codes)
	}
	return lines
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

// manifestTotal is the total of a manifest on one node type.
type manifestTotal struct {
	decisions map[workloadresizerv1.Decision]int64
	// delta is how much the requests would change, for one pod of each object.
	delta map[string]*resource.Quantity
}

// manifestTotals returns a line per node type. It does not consider how many pods an
// object creates: the change is for one pod of each.
func manifestTotals(p print.Painter, response *workloadresizerv1.PreviewManifestResponse) []string {
	totals := map[string]*manifestTotal{}
	for _, object := range response.GetObjects() {
		for _, plan := range object.GetPlans() {
			if totals[plan.GetNodeType()] == nil {
				totals[plan.GetNodeType()] = &manifestTotal{map[workloadresizerv1.Decision]int64{}, map[string]*resource.Quantity{}}
			}
			totals[plan.GetNodeType()].add(plan)
		}
	}
	return print.Each(slices.Sorted(maps.Keys(totals)), func(nodeType string) string {
		return "on " + print.OrAbsent(print.OneLine(nodeType)) + ": " + totals[nodeType].text(p)
	})
}

func (t *manifestTotal) add(plan *workloadresizerv1.Plan) {
	t.decisions[plan.GetDecision()]++
	if plan.GetDecision() != workloadresizerv1.Decision_DECISION_RESIZE {
		return
	}
	for _, container := range plan.GetContainers() {
		current := container.GetCurrent().GetRequests()
		for name, quantity := range container.GetDesired().GetRequests() {
			desired, err := sizing.Quantity(quantity)
			if err != nil {
				continue // A newer server may write what this version cannot read.
			}
			if now, err := sizing.Quantity(current[name]); err == nil {
				desired.Sub(now)
			}
			if sum, ok := t.delta[name]; ok {
				sum.Add(desired)
			} else {
				t.delta[name] = &desired
			}
		}
	}
}

func (t *manifestTotal) text(p print.Painter) string {
	delta := map[string]string{}
	for name, sum := range t.delta {
		if !sum.IsZero() {
			delta[name] = sum.String()
		}
	}
	var all int64
	for _, n := range t.decisions {
		all += n
	}
	resize, aligned := t.decisions[workloadresizerv1.Decision_DECISION_RESIZE], t.decisions[workloadresizerv1.Decision_DECISION_ALIGNED]
	text := fmt.Sprintf("%s: %d to resize, %d aligned, %d skipped", print.CountOf(all, "object"), resize, aligned, all-resize-aligned)
	if change := deltaText(p, delta); change != "" {
		text += "; requests, for one pod of each: " + change
	}
	return text
}
