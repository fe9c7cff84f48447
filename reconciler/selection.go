package reconciler

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/workload-resizer/workload-resizer/ratios"
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
func (r *Reconciler) selected(ctx context.Context, of Selection, table *ratios.Table) ([]*keptPod, error) {
	var pods []*keptPod // Not part of the candidates, which would be held for as long.
	for _, k := range r.candidates(of) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.selects(&of, k, table) {
			pods = append(pods, k)
		}
	}
	slices.SortFunc(pods, byNamespaceAndName)
	if of.Sees == nil {
		return pods, nil
	}
	return visible(pods, of.Sees)
}

// candidates are pods among which those of the selection are, as few as indexes
// tell.
func (r *Reconciler) candidates(of Selection) []*keptPod {
	switch {
	case of.Namespace != "" && of.Pod != "":
		if k := r.pods.Pods(of.Namespace).Find(of.Pod); k != nil {
			return []*keptPod{k}
		}
		return nil
	case of.Node != "":
		return r.pods.On(of.Node)
	}
	return r.pods.Pods(of.Namespace).List()
}

// selects puts the pod together only if what is asked for cannot be told otherwise.
func (r *Reconciler) selects(of *Selection, k *keptPod, table *ratios.Table) bool {
	if of.Namespace != "" && of.Namespace != k.namespace.Value() ||
		of.Pod != "" && of.Pod != k.name ||
		of.Node != "" && of.Node != k.node.Value() {
		return false
	}
	if of.Workload == (safety.Workload{}) && of.Labels == nil && of.NodeType == "" {
		return true
	}
	pod := k.withoutAmounts()
	return (of.Workload == safety.Workload{} || slices.Contains(r.owners.Chain(nil, pod), of.Workload)) &&
		(of.Labels == nil || of.Labels.Matches(labels.Set(pod.Labels))) &&
		(of.NodeType == "" || of.NodeType == r.typeOf(pod, table))
}

// typeOf is the type of the pod's node; empty if that is not known.
func (r *Reconciler) typeOf(pod *corev1.Pod, table *ratios.Table) string {
	ruling := r.Planner.rule(pod, r.node(pod), "", table)
	return ruling.NodeType
}

// visible keeps the pods, which are ordered by namespace, that may be seen.
func visible(pods []*keptPod, sees func(namespace string) (bool, error)) ([]*keptPod, error) {
	var kept []*keptPod
	for len(pods) > 0 {
		namespace := pods[0].namespace
		n := 1
		for n < len(pods) && pods[n].namespace == namespace {
			n++
		}
		ok, err := sees(namespace.Value())
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
