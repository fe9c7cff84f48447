package main

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/api/resource"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// containerStep tells how the sizes of a container come about. Sizes are the
// plan's: nothing is worked out here.
func (f *facts) containerStep(p painter, c *workloadresizerv1.ContainerPlan) string {
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
	return fmt.Sprintf("%s %s: %s.", what, oneLine(c.GetName()), strings.Join(parts, "; "))
}

// resourceText is e.g. "cpu 1 × 0.8 → 800m (bounds: 50m to 16), limit 2 → 1600m".
func (f *facts) resourceText(p painter, c *workloadresizerv1.ContainerPlan, name string) string {
	original, current, desired := c.GetOriginal().GetRequests()[name], c.GetCurrent().GetRequests()[name], c.GetDesired().GetRequests()[name]
	if original == "" && desired == "" {
		return ""
	}
	by, bounds := f.plan.GetCpuFactor(), f.bounds.GetCpu()
	if name == "memory" {
		by, bounds = f.plan.GetMemoryFactor(), f.bounds.GetMemory()
	}
	var text string
	switch {
	case f.restored():
		text = fmt.Sprintf("%s %s, as its author wrote it", name, desired)
	case !f.worked():
		return fmt.Sprintf("%s stays %s%s", name, current, stays(c, name))
	case by != 1 && desired == current && desired == original && f.because("RestartRequired", "MemoryLimitKept", "InvalidAnnotation", "ExternallyResized"):
		return fmt.Sprintf("%s stays %s%s, for one of the reasons below", name, current, stays(c, name))
	default:
		text = fmt.Sprintf("%s %s × %s → %s", name, original, factor(by), p.paint(changeStyle(original, desired), desired))
		if bounds != nil {
			text += fmt.Sprintf(" (bounds: %s%s)", rangeText(bounds), atEnd(desired, bounds))
		}
	}
	if from, to := c.GetOriginal().GetLimits()[name], c.GetDesired().GetLimits()[name]; from != "" || to != "" {
		limit := change(from, to)
		text += ", limit " + p.paint(limit.style, limit.text)
	}
	if current != desired {
		text += fmt.Sprintf(", and it has %s now", orAbsent(current))
	}
	return text
}

// worked tells whether the sizes were worked out: those of a pod that is left
// alone for what it is were not.
func (f *facts) worked() bool {
	if f.plan.GetDecision() != workloadresizerv1.Decision_DECISION_SKIP {
		return true
	}
	for _, c := range f.plan.GetContainers() {
		if !proto.Equal(c.GetCurrent(), c.GetDesired()) {
			return true
		}
	}
	return false
}

func stays(c *workloadresizerv1.ContainerPlan, name string) string {
	if limit := c.GetCurrent().GetLimits()[name]; limit != "" {
		return ", limit " + limit
	}
	return ""
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
