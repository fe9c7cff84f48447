package plans

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/resizes"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// containerStep tells how the sizes of a container come about. Sizes are the
// plan's: nothing is worked out here.
func (f *facts) containerStep(p print.Painter, c *workloadresizerv1.ContainerPlan) string {
	var parts []string
	for _, name := range []string{"cpu", "memory"} {
		if text := f.resourceText(p, c, name); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "it asks for neither cpu nor memory")
	}
	what := "Container"
	if c.GetSidecar() {
		what = "Sidecar"
	}
	return fmt.Sprintf("%s %s: %s.", what, print.OneLine(c.GetName()), strings.Join(parts, "; "))
}

// resourceText tells of one resource, whatever becomes of the others.
func (f *facts) resourceText(p print.Painter, c *workloadresizerv1.ContainerPlan, name string) string {
	original, current, desired := amountOf(c.GetOriginal(), name), amountOf(c.GetCurrent(), name), amountOf(c.GetDesired(), name)
	switch {
	case original.request == "" && current.request == "":
		return ""
	case !f.worked():
		return fmt.Sprintf("%s stays %s", name, current)
	case original.request == "":
		return fmt.Sprintf("%s stays %s: its original is not known", name, current)
	case f.restored():
		return name + " " + restoredText(original, current, desired)
	}
	return name + " " + f.sizedText(p, name, original, current, desired)
}

// restoredText is e.g. "1, limit 2, as its author wrote it".
func restoredText(original, current, desired amount) string {
	var text string
	switch desired {
	case original:
		text = desired.String() + ", as its author wrote it"
	case current:
		return fmt.Sprintf("stays %s, for one of the reasons below (original: %s)", current, original.beside(current))
	default:
		text = fmt.Sprintf("%s (original: %s)", desired, original.beside(current))
	}
	return text + hasNow(current, desired)
}

// sizedText is e.g. "1 × 0.8 → 800m (bounds: 50m to 16), limit 2 → 1600m".
func (f *facts) sizedText(p print.Painter, name string, original, current, desired amount) string {
	by, bounds := f.plan.GetCpuFactor(), f.bounds.GetCpu()
	if name == "memory" {
		by, bounds = f.plan.GetMemoryFactor(), f.bounds.GetMemory()
	}
	comes := arithmetic{original, by, bounds, roundings[name]}
	stays := f.because(resizes.LeavesAsIs...) && !f.boundsUnknown()
	switch {
	case stays && desired == current && !comes.toRequest(desired):
		return fmt.Sprintf("stays %s, for one of the reasons below (original: %s)", current, original.beside(current))
	case f.because("ResizeInfeasible", "ResizeError") && desired != current && !comes.toRequest(desired):
		return fmt.Sprintf("goes back to %s%s", desired, hasNow(current, desired))
	}
	text := fmt.Sprintf("%s × %s → %s", original.request, print.Factor(by), p.Paint(print.ChangeStyle(original.request, desired.request), desired.request))
	if bounds != nil {
		text += fmt.Sprintf(" (bounds: %s%s)", print.Range(bounds), atEnd(desired.request, bounds))
	}
	switch limit := print.Change(original.limit, desired.limit); {
	case desired.limit == "":
	case original.limit == "":
		text += fmt.Sprintf(", limit stays %s: its original is not known", desired.limit)
	case stays && desired.limit == current.limit && !comes.toLimit(desired):
		text += fmt.Sprintf(", limit stays %s, for one of the reasons below (original: %s)", desired.limit, original.limit)
	default:
		text += ", limit " + p.Paint(limit.Style, limit.Text)
	}
	return text + hasNow(current, desired)
}

func hasNow(current, desired amount) string {
	if current.request == desired.request {
		return ""
	}
	return fmt.Sprintf(", and it has %s now", print.OrAbsent(current.request))
}

// worked tells whether the sizes were worked out: those of a pod that is left
// alone for what it is were not.
func (f *facts) worked() bool {
	if f.plan.GetDecision() != workloadresizerv1.Decision_DECISION_SKIP {
		return true
	}
	return f.because("Restored") || f.because(resizes.LeavesAsIs...)
}

// boundsUnknown tells that a bound decided which the caller may not see.
func (f *facts) boundsUnknown() bool {
	return (f.ratiosErr != nil || f.otherRevision) && f.because("BoundsClamped")
}

// atEnd says that a size is at an end of the bounds.
func atEnd(size string, bounds *workloadresizerv1.QuantityRange) string {
	switch {
	case sameQuantity(size, bounds.GetMin()):
		return ", and this is the least"
	case sameQuantity(size, bounds.GetMax()):
		return ", and this is the most"
	}
	return ""
}

func sameQuantity(a, b string) bool {
	x, err := resource.ParseQuantity(a)
	if err != nil {
		return false
	}
	y, err := resource.ParseQuantity(b)
	return err == nil && x.Cmp(y) == 0
}
