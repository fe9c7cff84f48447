package query

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Selection says which pods are asked about: those that all of its fields select.
// An empty field selects all.
type Selection struct {
	Namespace, Pod string
	// Workload made the pods: their controller, or whatever is above that.
	Workload safety.Workload
	// Labels are those of the pods; nil for all.
	Labels labels.Selector
	// Node is where the pods run.
	Node string
	// NodeType is the type of the node that the pods run on.
	NodeType string
	// Sees tells whether pods of a namespace may be told of; nil for all. It is
	// asked once per namespace.
	Sees func(namespace string) (bool, error)
}

// selected returns the pods of the selection, ordered by namespace and name. The
// table decides what a node's type is. The error is that of Sees or ctx.
func (q *Queries) selected(ctx context.Context, of Selection, table *ratios.Table) ([]*pod.Pod, error) {
	var pods []*pod.Pod // Not part of the candidates, which would be held for as long.
	for _, k := range q.candidates(of) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if q.selects(&of, k, table) {
			pods = append(pods, k)
		}
	}
	slices.SortFunc(pods, cluster.ByNamespaceAndName)
	if of.Sees == nil {
		return pods, nil
	}
	return visible(pods, of.Sees)
}

// candidates are pods among which those of the selection are, as few as indexes
// tell.
func (q *Queries) candidates(of Selection) []*pod.Pod {
	switch {
	case of.Namespace != "" && of.Pod != "":
		if k := q.Cluster.Pods(of.Namespace).Get(of.Pod); k != nil {
			return []*pod.Pod{k}
		}
		return nil
	case of.Node != "":
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
	return (of.Workload == safety.Workload{} || slices.Contains(q.Cluster.Owners().Chain(nil, k), of.Workload)) &&
		(of.Labels == nil || of.Labels.Matches(k.Labels())) &&
		(of.NodeType == "" || of.NodeType == q.typeOf(k, table))
}

// typeOf is the type of the pod's node; empty if that is not known.
func (q *Queries) typeOf(of *pod.Pod, table *ratios.Table) string {
	ruling := q.Planner.Rule(of, q.Cluster.Node(of), "", table)
	return ruling.NodeType
}

// visible keeps the pods, which are ordered by namespace, that may be seen.
func visible(pods []*pod.Pod, sees func(namespace string) (bool, error)) ([]*pod.Pod, error) {
	var kept []*pod.Pod
	for len(pods) > 0 {
		namespace := pods[0].Namespace()
		n := 1
		for n < len(pods) && pods[n].Namespace() == namespace {
			n++
		}
		ok, err := sees(namespace)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, pods[:n]...)
		}
		pods = pods[n:]
	}
	return kept, nil
}
