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
)

// podLister finds pods in an index.
type podLister struct{ index cache.Indexer }

// Lister finds the pods of a namespace.
type Lister struct {
	index     cache.Indexer
	namespace string
}

// Pods has those of a namespace; of all if it is empty.
func (l podLister) Pods(namespace string) Lister {
	return Lister{l.index, namespace}
}

// On returns the pods of a node, in any order. The slice is the caller's.
func (l podLister) On(node string) []*pod.Pod { return podsOf(byIndex(l.index, byNode, node)) }

// ControlledBy returns the pods whose controller has the uid, in any order. The slice is
// the caller's.
func (l podLister) ControlledBy(uid types.UID) []*pod.Pod {
	return slices.DeleteFunc(podsOf(byIndex(l.index, byController, endOf(uid))), func(k *pod.Pod) bool { return k.Controller().UID != uid })
}

// List returns the pods in any order. The slice is the caller's.
func (l Lister) List() []*pod.Pod {
	if l.namespace == metav1.NamespaceAll {
		return podsOf(l.index.List())
	}
	return podsOf(byIndex(l.index, cache.NamespaceIndex, l.namespace))
}

// Count returns how many pods there are.
func (l Lister) Count() int {
	if l.namespace == metav1.NamespaceAll {
		return len(l.index.ListKeys())
	}
	return len(byIndex(l.index, cache.NamespaceIndex, l.namespace))
}

// After are the pods that come after the named one, by namespace and name; zero is
// before all. Each namespace is listed when its turn comes, so that who ends early has
// not sorted the rest.
func (l Lister) After(name types.NamespacedName) iter.Seq[*pod.Pod] {
	namespaces := []string{l.namespace}
	if l.namespace == metav1.NamespaceAll {
		namespaces = l.index.ListIndexFuncValues(cache.NamespaceIndex)
		slices.Sort(namespaces)
	}
	return func(yield func(*pod.Pod) bool) {
		for _, namespace := range namespaces {
			if namespace < name.Namespace {
				continue
			}
			pods := slices.DeleteFunc(Lister{l.index, namespace}.List(), func(k *pod.Pod) bool {
				return compareNames(k.NamespacedName(), name) <= 0
			})
			slices.SortFunc(pods, ByNamespaceAndName)
			for _, k := range pods {
				if !yield(k) {
					return
				}
			}
		}
	}
}

// Get returns a pod, nil if there is none.
func (l Lister) Get(name string) *pod.Pod {
	// A cache gives no error, and nil is no pod.
	obj, _, _ := l.index.GetByKey(cache.ObjectName{Namespace: l.namespace, Name: name}.String())
	found, _ := obj.(*pod.Pod)
	return found
}

func byIndex(index cache.Indexer, name, value string) []any {
	found, err := index.ByIndex(name, value)
	if err != nil {
		// Only an index that was never added gives an error.
		panic(fmt.Sprintf("cluster: pods by %s: %v", name, err))
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

// ByNamespaceAndName orders pods.
func ByNamespaceAndName(a, b *pod.Pod) int {
	return compareNames(a.NamespacedName(), b.NamespacedName())
}

func compareNames(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
