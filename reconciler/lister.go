package reconciler

import (
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// podLister finds pods in an index that holds them as keptPod. What it lists it leaves
// packed: put together, all pods of a large cluster take many times the memory that
// they do in the index.
type podLister struct{ index cache.Indexer }

// podNamespaceLister finds those of a namespace.
type podNamespaceLister struct {
	index     cache.Indexer
	namespace string
}

// Pods has those of a namespace; of all if it is empty.
func (l podLister) Pods(namespace string) podNamespaceLister {
	return podNamespaceLister{l.index, namespace}
}

// On returns the pods of a node, in any order. The slice is the caller's.
func (l podLister) On(node string) []*keptPod { return packed(byIndex(l.index, byNode, node)) }

// ControlledBy returns the pods whose controller has the uid, in any order. The slice is
// the caller's.
func (l podLister) ControlledBy(uid types.UID) []*keptPod {
	return slices.DeleteFunc(packed(byIndex(l.index, byController, endOf(uid))), func(k *keptPod) bool { return k.controller() != uid })
}

// List returns the pods in any order. The slice is the caller's.
func (l podNamespaceLister) List() []*keptPod {
	if l.namespace == metav1.NamespaceAll {
		return packed(l.index.List())
	}
	return packed(byIndex(l.index, cache.NamespaceIndex, l.namespace))
}

// Count returns how many pods there are.
func (l podNamespaceLister) Count() int {
	if l.namespace == metav1.NamespaceAll {
		return len(l.index.ListKeys())
	}
	return len(byIndex(l.index, cache.NamespaceIndex, l.namespace))
}

// After are the pods that come after the named one, by namespace and name; zero is
// before all. Each namespace is listed when its turn comes, so that who ends early has
// not sorted the rest.
func (l podNamespaceLister) After(name types.NamespacedName) iter.Seq[*keptPod] {
	namespaces := []string{l.namespace}
	if l.namespace == metav1.NamespaceAll {
		namespaces = l.index.ListIndexFuncValues(cache.NamespaceIndex)
		slices.Sort(namespaces)
	}
	return func(yield func(*keptPod) bool) {
		for _, namespace := range namespaces {
			if namespace < name.Namespace {
				continue
			}
			pods := slices.DeleteFunc(podNamespaceLister{l.index, namespace}.List(), func(k *keptPod) bool {
				return compareNames(k.namespacedName(), name) <= 0
			})
			slices.SortFunc(pods, byNamespaceAndName)
			for _, k := range pods {
				if !yield(k) {
					return
				}
			}
		}
	}
}

// Get returns a pod, put together.
func (l podNamespaceLister) Get(name string) (*corev1.Pod, error) {
	k := l.Find(name)
	if k == nil {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	return k.pod(), nil
}

// Find returns a pod, nil if there is none.
func (l podNamespaceLister) Find(name string) *keptPod {
	// A cache gives no error, and nil is no pod.
	obj, _, _ := l.index.GetByKey(cache.ObjectName{Namespace: l.namespace, Name: name}.String())
	k, _ := obj.(*keptPod)
	return k
}

func byIndex(index cache.Indexer, name, value string) []any {
	found, err := index.ByIndex(name, value)
	if err != nil {
		// Only an index that was never added gives an error.
		panic(fmt.Sprintf("reconciler: pods by %s: %v", name, err))
	}
	return found
}

func packed(found []any) []*keptPod {
	pods := make([]*keptPod, len(found))
	for i, obj := range found {
		pods[i] = obj.(*keptPod)
	}
	return pods
}

func byNamespaceAndName(a, b *keptPod) int {
	return compareNames(a.namespacedName(), b.namespacedName())
}
