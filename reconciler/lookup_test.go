package reconciler

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestPodsAreCountedOnceTheyAreRead(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, name := range []string{"web", "cart"} {
		if err := indexer.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := indexer.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "bank", Name: "teller"}}); err != nil {
		t.Fatal(err)
	}
	r := &Reconciler{vpas: &vpas{}, filled: make(chan struct{})}
	r.pods = corelisters.NewPodLister(indexer)
	var notReady *NotReadyError
	if _, err := r.Count(""); !errors.As(err, &notReady) || notReady.What != CacheNotReady {
		t.Errorf("before: %v", err)
	}
	close(r.filled)
	for namespace, want := range map[string]int{"": 3, "shop": 2, "bank": 1, "shpo": 0} {
		if got, err := r.Count(namespace); got != want || err != nil {
			t.Errorf("%q has %d pods, %v; want %d", namespace, got, err, want)
		}
	}
}
