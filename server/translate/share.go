package translate

import (
	corev1 "k8s.io/api/core/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// NodeShares returns what the pods on a node request, and what they share as far as that is known, by the names of the resources.
func NodeShares(of *reconciler.Reconciler, on *corev1.Node) map[string]*workloadresizerv1.NodeShare {
	var share *headroom.Share
	if of.Demands != nil {
		share = of.Demands.Neighbors().Of(on.Name)
	}
	has, free := node.Allocatable(on), of.Cluster.Free(on)
	all := map[string]*workloadresizerv1.NodeShare{}
	for _, m := range sizing.Measures {
		resource := &workloadresizerv1.NodeShare{Allocatable: m.Text(has.Of(m)), Requested: m.Text(has.Of(m) - free.Of(m))}
		if share != nil {
			resource.Steady, resource.Rest, resource.Reserve = m.Text(share.Steady[m.Index]), m.Text(share.Rests[m.Index]), m.Text(share.Reserve[m.Index])
			if lacks := share.Lacks()[m.Index]; lacks > 0 {
				resource.Lacks = m.Text(lacks)
			}
		}
		all[m.Name] = resource
	}
	return all
}
