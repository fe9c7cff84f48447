package query

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Selection selects pods: a pod must match all fields. An empty field matches all pods.
type Selection struct {
	Namespace, Pod string
	// Workload is the controller of the pods, or an owner above it.
	Workload workload.Workload
	// Labels selects pods by their labels; nil for all.
	Labels labels.Selector
	// Node is the node that the pods run on.
	Node string
	// NodeType is the type of the node that the pods run on.
	NodeType string
	// Visible limits the result to namespaces that the caller can see; nil for no limit.
	Visible Visible
}

// selected returns the pods of the selection, ordered by namespace and name. The table
// determines the types of nodes. The error comes from Visible or ctx.
func (q *Queries) selected(ctx context.Context, of Selection, table *ratios.Table) ([]*pod.Pod, error) {
	candidates, err := of.Visible.podsAmong(q.candidates(of))
	if err != nil {
		return nil, err
	}
	var pods []*pod.Pod // Not a slice of the candidates, which would be kept as long.
	for _, k := range candidates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if q.selects(&of, k, table) {
			pods = append(pods, k)
		}
	}
	slices.SortFunc(pods, cluster.ByNamespaceAndName)
	return pods, nil
}

// candidates returns a superset of the selected pods in any order, as small as the indexes
// allow. If the selection names a namespace, all of them are in it.
func (q *Queries) candidates(of Selection) []*pod.Pod {
	switch {
	case of.Namespace != "" && of.Pod != "":
		if k := q.Cluster.Pods(of.Namespace).Get(of.Pod); k != nil {
			return []*pod.Pod{k}
		}
		return nil
	case of.Namespace == "" && of.Node != "":
		return q.Cluster.On(of.Node)
	}
	return q.Cluster.Pods(of.Namespace).List()
}

func (q *Queries) selects(of *Selection, k *pod.Pod, table *ratios.Table) bool {
	if of.Namespace != "" && of.Namespace != k.Namespace() ||
		of.Pod != "" && of.Pod != k.Name ||
		of.Node != "" && of.Node != k.Node() {
		return false
	}
	return (of.Workload == workload.Workload{} || slices.Contains(q.Cluster.Owners().Chain(nil, k), of.Workload)) &&
		(of.Labels == nil || of.Labels.Matches(k.Labels())) &&
		(of.NodeType == "" || of.NodeType == q.typeOf(k, table))
}

// typeOf returns the type of the pod's node; empty if it is unknown.
func (q *Queries) typeOf(of *pod.Pod, table *ratios.Table) string {
	ruling := q.Planner.Rule(of, q.Cluster.Node(of), "", table)
	return ruling.NodeType
}
