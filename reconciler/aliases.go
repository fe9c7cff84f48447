package reconciler

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/recorder"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Aliases returns under which other workloads the journal has what happened to the pods of a workload. Breakers and holds of pods may
// be in the name of their topmost owner, which is not the workload that they count for if an operator owns it.
func (r *Reconciler) Aliases(namespace string, of workload.Workload) (all []workload.Workload) {
	var owners []workload.Workload
	for _, p := range r.Cluster.Pods(namespace).List() {
		owners = r.Cluster.Owners().Chain(owners[:0], p)
		if !slices.Contains(owners, of) {
			continue
		}
		top, counted := owners[len(owners)-1], recorder.CountsFor(namespace, owners)
		if of != top && of != counted {
			continue
		}
		for _, w := range [...]workload.Workload{top, counted} {
			if w != of && !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}
