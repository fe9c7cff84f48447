package cluster

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// podLister finds pods in an index.
type podLister struct{ index cache.Indexer }

// Lister finds the pods in a namespace.
type Lister struct {
	index     cache.Indexer
	namespace string
}

// Pods returns a lister for the pods in a namespace, or in all namespaces if it is empty.
func (l podLister) Pods(namespace string) Lister {
	return Lister{l.index, namespace}
}

// On returns the pods of a node, in any order. The caller owns the slice.
func (l podLister) On(node string) []*pod.Pod { return podsOf(byIndex(l.index, byNode, node)) }

// ControlledBy returns the pods whose controller has the uid, in any order. The caller
// owns the slice.
func (l podLister) ControlledBy(uid types.UID) []*pod.Pod {
	return slices.DeleteFunc(podsOf(byIndex(l.index, byController, endOf(uid))), func(k *pod.Pod) bool { return k.Controller().UID != uid })
}

// Of returns the pods of a workload, in any order. The caller owns the slice.
func (l podLister) Of(group workload.Group) []*pod.Pod {
	index, end := byDeployment, endOfHash(group)
	if uid, ok := group.Controller(); ok {
		index, end = byController, endOf(uid)
	}
	return slices.DeleteFunc(podsOf(byIndex(l.index, index, end)), func(k *pod.Pod) bool { return !group.Has(k) })
}

// Keys implements workload.Pods.
func (l podLister) Keys(namespace string) []string {
	keys, err := l.index.IndexKeys(cache.NamespaceIndex, namespace)
	if err != nil {
		// The only error is an index that was never added.
		panic(fmt.Sprintf("cluster: pods by namespace: %v", err))
	}
	return keys
}

// At implements workload.Pods.
func (l podLister) At(key string) *pod.Pod {
	obj, _, _ := l.index.GetByKey(key) // A cache returns no error, and nil if there is no pod.
	found, _ := obj.(*pod.Pod)
	return found
}

// List returns the pods in any order. The caller owns the slice.
func (l Lister) List() []*pod.Pod {
	if l.namespace == metav1.NamespaceAll {
		return podsOf(l.index.List())
	}
	return podsOf(byIndex(l.index, cache.NamespaceIndex, l.namespace))
}

// Namespaces returns the namespaces that have pods, in order; a lister of one namespace returns
// that one.
func (l Lister) Namespaces() []string {
	if l.namespace != metav1.NamespaceAll {
		return []string{l.namespace}
	}
	namespaces := l.index.ListIndexFuncValues(cache.NamespaceIndex)
	slices.Sort(namespaces)
	return namespaces
}

// namespacesAtATime is how many namespaces visible is asked about at a time: enough to make use of a
// caller's concurrent reviews, and few compared with the namespaces on a page.
const namespacesAtATime = 64

// Visible yields those of Namespaces that visible returns, beginning with a namespace or the one after
// it. A nil visible stands for all. It asks about namespaces only when it reaches them, so that a page of
// a long result costs no more than the page, and ends with the error of visible, if there is one.
func (l Lister) Visible(from string, visible func(namespaces ...string) ([]string, error)) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		all := slices.DeleteFunc(l.Namespaces(), func(namespace string) bool { return namespace < from })
		for some := range slices.Chunk(all, namespacesAtATime) {
			var err error
			if visible != nil {
				some, err = visible(some...)
			}
			if err != nil {
				yield("", err)
				return
			}
			for _, namespace := range some {
				if !yield(namespace, nil) {
					return
				}
			}
		}
	}
}

// Count returns the number of pods.
func (l Lister) Count() int {
	if l.namespace == metav1.NamespaceAll {
		return len(l.index.ListKeys())
	}
	return len(byIndex(l.index, cache.NamespaceIndex, l.namespace))
}

// After returns the pods of the lister's namespace after the named one, ordered by name; the
// zero name is before all pods.
func (l Lister) After(name types.NamespacedName) []*pod.Pod {
	pods := slices.DeleteFunc(l.List(), func(k *pod.Pod) bool { return compareNames(k.NamespacedName(), name) <= 0 })
	slices.SortFunc(pods, ByNamespaceAndName)
	return pods
}

// Get returns a pod; nil if there is none.
func (l Lister) Get(name string) *pod.Pod {
	return podLister{l.index}.At(cache.ObjectName{Namespace: l.namespace, Name: name}.String())
}

func byIndex(index cache.Indexer, name, value string) []any {
	found, err := index.ByIndex(name, value)
	if err != nil {
		// The only error is an index that was never added.
		panic(fmt.Sprintf("cluster: objects by %s: %v", name, err))
	}
	return found
}

func podsOf(found []any) []*pod.Pod {
	pods := make([]*pod.Pod, len(found))
	for i, obj := range found {
		pods[i] = obj.(*pod.Pod)
	}
	return pods
}

// ByNamespaceAndName compares pods by namespace and name.
func ByNamespaceAndName(a, b *pod.Pod) int {
	return compareNames(a.NamespacedName(), b.NamespacedName())
}

func compareNames(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
