package reconciler

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Selection says which pods are asked about: those that all of its fields select.
// An empty field selects all.
type Selection struct {
	Namespace, Pod string
	// Workload made the pods: their controller, or the controller's own.
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
// table decides what a node's type is. The error is that of Sees.
func (r *Reconciler) selected(ctx context.Context, of Selection, table *ratios.Table) ([]*corev1.Pod, error) {
	candidates := r.candidates(of)
	pods := candidates[:0]
	for _, pod := range candidates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.selects(&of, pod, table) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, byNamespaceAndName)
	if of.Sees == nil {
		return pods, nil
	}
	return visible(pods, of.Sees)
}

func byNamespaceAndName(a, b *corev1.Pod) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// candidates are pods among which those of the selection are, as few as indexes
// tell. The slice is the caller's.
func (r *Reconciler) candidates(of Selection) []*corev1.Pod {
	switch {
	case of.Namespace != "" && of.Pod != "":
		pod, err := r.pods.Pods(of.Namespace).Get(of.Pod)
		if err != nil {
			return nil // There is no such pod.
		}
		return []*corev1.Pod{pod}
	case of.Node != "":
		return r.podsOn(of.Node)
	}
	return all(r.pods.Pods(of.Namespace).List)
}

// podsOn are the pods of a node.
func (r *Reconciler) podsOn(node string) []*corev1.Pod {
	found, err := r.podIndex.ByIndex(byNode, node)
	if err != nil {
		// Only an index that was never added gives an error.
		panic(fmt.Sprintf("reconciler: pods by node: %v", err))
	}
	pods := make([]*corev1.Pod, len(found))
	for i, obj := range found {
		pods[i] = podOf(obj)
	}
	return pods
}

func (r *Reconciler) selects(of *Selection, pod *corev1.Pod, table *ratios.Table) bool {
	return (of.Namespace == "" || of.Namespace == pod.Namespace) &&
		(of.Pod == "" || of.Pod == pod.Name) &&
		(of.Node == "" || of.Node == pod.Spec.NodeName) &&
		(of.Workload == safety.Workload{} || safety.Targets(of.Workload.Kind, of.Workload.Name, pod)) &&
		(of.Labels == nil || of.Labels.Matches(labels.Set(pod.Labels))) &&
		(of.NodeType == "" || of.NodeType == r.typeOf(pod, table))
}

// typeOf is the type of the pod's node; empty if that is not known.
func (r *Reconciler) typeOf(pod *corev1.Pod, table *ratios.Table) string {
	ruling := r.Planner.rule(pod, r.node(pod), "", table)
	return ruling.NodeType
}

// visible keeps the pods, which are ordered by namespace, that may be seen.
func visible(pods []*corev1.Pod, sees func(namespace string) (bool, error)) ([]*corev1.Pod, error) {
	kept := pods[:0]
	for len(pods) > 0 {
		namespace := pods[0].Namespace
		n := 1
		for n < len(pods) && pods[n].Namespace == namespace {
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
