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

// manifestTotal is the total of a manifest on one node type.
type manifestTotal struct {
	resize, aligned, skip int64
	// delta is how much the requests would change, for one pod of each object.
	delta map[string]*resource.Quantity
}

// printManifestTotals prints a line per node type. It does not consider how many pods an
// object creates: the change is for one pod of each.
func printManifestTotals(w io.Writer, p print.Painter, response *workloadresizerv1.PreviewManifestResponse) error {
	totals := map[string]*manifestTotal{}
	for _, object := range response.GetObjects() {
		for _, plan := range object.GetPlans() {
			total, ok := totals[plan.GetNodeType()]
			if !ok {
				total = &manifestTotal{delta: map[string]*resource.Quantity{}}
				totals[plan.GetNodeType()] = total
			}
			total.add(plan)
		}
	}
	for _, nodeType := range slices.Sorted(maps.Keys(totals)) {
		if _, err := fmt.Fprintf(w, "on %s: %s\n", print.OrAbsent(print.OneLine(nodeType)), totals[nodeType].text(p)); err != nil {
			return err
		}
	}
	return nil
}

func (t *manifestTotal) add(plan *workloadresizerv1.Plan) {
	switch plan.GetDecision() {
	case workloadresizerv1.Decision_DECISION_RESIZE:
		t.resize++
	case workloadresizerv1.Decision_DECISION_ALIGNED:
		t.aligned++
		return
	default:
		t.skip++
		return
	}
	for _, container := range plan.GetContainers() {
		current := container.GetCurrent().GetRequests()
		for name, quantity := range container.GetDesired().GetRequests() {
			desired, err := resource.ParseQuantity(quantity)
			if err != nil {
				continue // A newer server may write what this version cannot read.
			}
			if now, err := resource.ParseQuantity(current[name]); err == nil {
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
	text := fmt.Sprintf("%s: %d to resize, %d aligned, %d skipped", print.CountOf(t.resize+t.aligned+t.skip, "object"), t.resize, t.aligned, t.skip)
	if change := deltaText(p, delta); change != "" {
		text += "; requests, for one pod of each: " + change
	}
	return text
}
