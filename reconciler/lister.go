package reconciler

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// podLister lists pods from an index that holds them as keptPod.
type podLister struct{ index cache.Indexer }

// podNamespaceLister lists those of a namespace.
type podNamespaceLister struct {
	index     cache.Indexer
	namespace string
}

// List implements listersv1.PodLister.
func (l podLister) List(selector labels.Selector) (pods []*corev1.Pod, err error) {
	return l.Pods("").List(selector)
}

// Pods implements listersv1.PodLister; no namespace is all of them.
func (l podLister) Pods(namespace string) listersv1.PodNamespaceLister {
	return podNamespaceLister{l.index, namespace}
}

// List implements listersv1.PodNamespaceLister.
func (l podNamespaceLister) List(selector labels.Selector) (pods []*corev1.Pod, err error) {
	// What the index holds does not tell its labels.
	err = cache.ListAllByNamespace(l.index, l.namespace, labels.Everything(), func(obj any) {
		if pod := podOf(obj); selector.Matches(labels.Set(pod.Labels)) {
			pods = append(pods, pod)
		}
	})
	return pods, err
}

// Get implements listersv1.PodNamespaceLister.
func (l podNamespaceLister) Get(name string) (*corev1.Pod, error) {
	obj, exists, err := l.index.GetByKey(l.namespace + "/" + name)
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	return podOf(obj), nil
}
