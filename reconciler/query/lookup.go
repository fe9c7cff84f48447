package query

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// UID returns the uid of the pod that currently has the name. The error is a
// NotReadyError or a PodNotFoundError.
func (q *Queries) UID(name types.NamespacedName) (types.UID, error) {
	if err := q.Cluster.CacheReady(); err != nil {
		return "", err
	}
	k := q.Cluster.Pods(name.Namespace).Get(name.Name)
	if k == nil {
		return "", &PodNotFoundError{name}
	}
	return k.UID, nil
}

// Workloads returns the workloads of the pod that currently has the name, the narrowest
// first: its controller, the controller's controller, and so on as far as they are known.
// It returns none if the pod does not exist or has no controller.
func (q *Queries) Workloads(name types.NamespacedName) []workload.Workload {
	found := q.Cluster.Pods(name.Namespace).Get(name.Name)
	if found == nil {
		return nil
	}
	return q.Cluster.Owners().Chain(nil, found)
}

// CountOf counts the pods of a workload. The error is a NotReadyError.
func (q *Queries) CountOf(namespace string, of workload.Workload) (int, error) {
	if err := q.Cluster.CacheReady(); err != nil {
		return 0, err
	}
	count := 0
	var chain []workload.Workload
	for _, k := range q.Cluster.Pods(namespace).List() {
		if chain = q.Cluster.Owners().Chain(chain[:0], k); slices.Contains(chain, of) {
			count++
		}
	}
	return count, nil
}

// Count counts the pods in a namespace, or all pods if it is empty. The error is a
// NotReadyError.
func (q *Queries) Count(namespace string) (int, error) {
	if err := q.Cluster.CacheReady(); err != nil {
		return 0, err
	}
	return q.Cluster.Pods(namespace).Count(), nil
}
