package demand

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// PodsOn returns the pods on a node by their UIDs, or those on all nodes if the name is empty.
func (d *Demands) PodsOn(node string) map[types.UID]*pod.Pod {
	pods := d.Cluster.Pods("").List
	if node != "" {
		pods = func() []*pod.Pod { return d.Cluster.On(node) }
	}
	all := map[types.UID]*pod.Pod{}
	for _, p := range pods() {
		all[p.UID] = p
	}
	return all
}

// Ready returns a NotReadyError while the pods and nodes are not known.
func (d *Demands) Ready() error { return d.Cluster.CacheReady() }
