package demand

import (
	"context"
	"fmt"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// again is how many times a size that was reverted is the least that may be tried again, unless that is more than what
// the pod had before.
const again = 1.2

// countReverts counts the sizes of a pod that were reverted as too small for its workload. Pods record their reverts, so
// they are counted again and again, and no crash loses one.
func (d *Demands) countReverts(ctx context.Context, p *pod.Pod) {
	for _, r := range p.Reverts() {
		harm := harmOf(&r)
		harm.UID = string(p.UID)
		if err := d.store.Harm(p.Namespace(), p.Name, r.Container, harm, d.Clock.Now()); err != nil {
			klog.FromContext(ctx).V(1).Info("Revert not counted", "pod", p.NamespacedName(), "container", r.Container, "why", fmt.Sprint(err))
		}
	}
}

// harmOf returns what a revert says about sizes. If the limit alone did the harm, the request may be lowered.
func harmOf(r *pod.Revert) history.Harm {
	of := history.Harm{At: r.At, Resource: history.CPU}
	if r.Measure == sizing.Memory {
		of.Resource = history.Memory
	}
	least := func(hurt, back int64) int64 {
		if hurt >= back {
			return 0 // It was not lowered.
		}
		return min(int64(float64(hurt)*again), back)
	}
	if r.Hurt.Limit > 0 {
		of.Limit = least(r.Hurt.Limit, r.Back.Limit)
	}
	if of.Limit == 0 || !guard.ByLimit(r.Harm) {
		of.Request = least(r.Hurt.Request, r.Back.Request)
	}
	return of
}
