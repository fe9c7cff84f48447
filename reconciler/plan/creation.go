package plan

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Creation returns what a pod that is being created gets together with its sizes: the annotations that a resize to them
// would leave, and the record of the sizes before and after, in the form of pod.AppliedSizes. It is empty unless the plan
// changes sizes.
func (p *Plan) Creation(now time.Time) (annotations map[string]string, sizes string) {
	if p.Decision != Resize || p.Kind != Sizes {
		return nil, ""
	}
	annotations = map[string]string{}
	for _, a := range p.Actions() {
		for key, text := range a.At(now).Annotations {
			if text != nil {
				annotations[key] = *text
			}
		}
	}
	sizes = annotations[contract.AppliedSizes]
	// They count only if the reconciler wrote them.
	delete(annotations, contract.AppliedSizes)
	delete(annotations, contract.AppliedDemand)
	return annotations, sizes
}
