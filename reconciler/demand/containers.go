package demand

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
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

// Capacity returns what the node of a pod has, in millicores and bytes; 0 for what is not known.
func (d *Demands) Capacity(of *pod.Pod) recommend.Amounts {
	node := d.Cluster.Node(of)
	if node == nil {
		return recommend.Amounts{}
	}
	return recommend.Amounts{CPU: node.Status.Capacity.Cpu().MilliValue(), Memory: node.Status.Capacity.Memory().Value()}
}
