package plans

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// containerStep explains the sizes of a container. The sizes are the plan's: nothing is
// computed here.
func (f *facts) containerStep(p print.Painter, c *workloadresizerv1.ContainerPlan) string {
	var parts []string
	for _, name := range resourceNames {
		if text := f.resourceText(p, c, name); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "it requests neither cpu nor memory")
	}
	what := "Container"
	if c.GetSidecar() {
		what = "Sidecar"
	}
	return fmt.Sprintf("%s %s: %s.", what, print.OneLine(c.GetName()), strings.Join(parts, "; "))
}

// resourceText explains one resource, independently of the others.
func (f *facts) resourceText(p print.Painter, c *workloadresizerv1.ContainerPlan, name string) string {
	original, current, desired := amountOf(c.GetOriginal(), name), amountOf(c.GetCurrent(), name), amountOf(c.GetDesired(), name)
	switch {
	case original.request == "" && current.request == "":
		return ""
	case !f.worked():
		return fmt.Sprintf("%s stays %s", name, current)
	case original.request == "":
		return fmt.Sprintf("%s stays %s: its original is unknown", name, current)
	case f.restored():
		return name + " " + restoredText(original, current, desired)
	}
	demand := c.GetDemands()[name]
	if byUsage(demand) {
		return name + " " + f.usageText(p, name, demand, original, current, desired)
	}
	why := print.OneLine(demand.GetMessage())
	by, bounds := f.scale(name)
	switch comes := (arithmetic{original, by, bounds, roundings[name]}); {
	case why == "":
		return name + " " + f.sizedText(p, name, original, current, desired)
	case desired == current && !comes.toRequest(desired) && !f.boundsUnknown():
		return fmt.Sprintf("%s stays %s: %s", name, current, why)
	}
	return fmt.Sprintf("%s %s (%s)", name, f.sizedText(p, name, original, current, desired), why)
}

// restoredText returns e.g. "1, limit 2, as its author wrote it".
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

// sizedText returns e.g. "1 × 0.8 → 800m (bounds: 50m to 16), limit 2 → 1600m".
func (f *facts) sizedText(p print.Painter, name string, original, current, desired amount) string {
	by, bounds := f.scale(name)
	comes := arithmetic{original, by, bounds, roundings[name]}
	stays := f.stays() && !f.boundsUnknown()
	switch {
	case stays && desired == current && !comes.toRequest(desired):
		return fmt.Sprintf("stays %s, for one of the reasons below (original: %s)", current, original.beside(current))
	case f.because("ResizeInfeasible", "ResizeError") && desired != current && !comes.toRequest(desired):
		return fmt.Sprintf("reverts to %s%s", desired, hasNow(current, desired))
	case name == "cpu" && f.because(string(contract.StartupBoost)) && !comes.toRequest(desired) && !f.boundsUnknown():
		return fmt.Sprintf("%s, while the pod starts (%s × %s after that)%s", desired, original.request, print.Factor(by), hasNow(current, desired))
	}
	text := fmt.Sprintf("%s × %s → %s", original.request, print.Factor(by), p.Paint(print.ChangeStyle(original.request, desired.request), desired.request))
	if bounds != nil {
		text += fmt.Sprintf(" (bounds: %s%s)", print.Range(bounds), atEnd(desired.request, bounds))
	}
	switch limit := print.Change(original.limit, desired.limit); {
	case desired.limit == "":
	case original.limit == "":
		text += fmt.Sprintf(", limit stays %s: its original is unknown", desired.limit)
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

// worked reports whether the sizes were computed. For a pod that is skipped because of what
// it is, they were not.
func (f *facts) worked() bool {
	if f.plan.GetDecision() != workloadresizerv1.Decision_DECISION_SKIP {
		return true
	}
	return f.because("Restored") || f.stays()
}

// boundsUnknown reports whether a bound took effect that the caller may not see.
func (f *facts) boundsUnknown() bool {
	return (f.ratiosErr != nil || f.otherRevision) && f.because("BoundsClamped")
}

// atEnd returns a note if a size is at an end of the bounds.
func atEnd(size string, bounds *workloadresizerv1.QuantityRange) string {
	switch {
	case sameQuantity(size, bounds.GetMin()):
		return ", at the minimum"
	case sameQuantity(size, bounds.GetMax()):
		return ", at the maximum"
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
