package query

import (
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Visible returns the given namespaces that the caller of a query can see, in the same
// order; nil stands for all. It is applied before all filters that look at pods, so
// that neither a result nor an error depends on pods that the caller cannot see. Only
// the indexes are used earlier: a query asks about the namespaces with pods, or with
// pods on its node.
type Visible func(namespaces ...string) ([]string, error)

// podsAmong returns the pods in visible namespaces. It changes the slice.
func (v Visible) podsAmong(pods []*pod.Pod) ([]*pod.Pod, error) {
	if v == nil {
		return pods, nil
	}
	namespaces := map[string]bool{}
	for _, k := range pods {
		namespaces[k.Namespace()] = false
	}
	visible, err := v(slices.Sorted(maps.Keys(namespaces))...)
	if err != nil {
		return nil, err
	}
	for _, namespace := range visible {
		namespaces[namespace] = true
	}
	return slices.DeleteFunc(pods, func(k *pod.Pod) bool { return !namespaces[k.Namespace()] }), nil
}
