package query

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// ResizeQuery selects resizes: a pod must match all of its fields.
type ResizeQuery struct {
	// Namespace selects a namespace; empty for all.
	Namespace string
	// Selector selects pods by their labels; nil for all.
	Selector labels.Selector
	// After is the pod after which the result starts; zero to start with the first pod.
	After types.NamespacedName
	// Visible limits the result to namespaces that the caller can see; nil for no limit.
	Visible Visible
}

// NotResizedError means that the pod was never sized.
type NotResizedError struct{ Pod types.NamespacedName }

func (e *NotResizedError) Error() string {
	return fmt.Sprintf("pod %q in namespace %q was never resized: preview its plan to see why", e.Pod.Name, e.Pod.Namespace)
}

// Resizes returns the resizes of pods that were sized, ordered by namespace and name. The
// sequence ends with the error of Visible or ctx, if there is one. It asks about namespaces
// and reads their pods only when it reaches them, so that a page of a long result costs no more
// than the page. The returned error is a NotReadyError.
func (q *Queries) Resizes(ctx context.Context, of ResizeQuery) (iter.Seq2[*Resized, error], error) {
	if err := q.Cluster.CacheReady(); err != nil {
		return nil, err
	}
	if of.Selector == nil {
		of.Selector = labels.Everything()
	}
	return func(yield func(*Resized, error) bool) {
		for namespace, err := range q.Cluster.Pods(of.Namespace).Visible(of.After.Namespace, of.Visible) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, k := range q.Cluster.Pods(namespace).After(of.After) {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if k.Sized() && of.Selector.Matches(k.Labels()) && !yield(q.resizeOf(k), nil) {
					return
				}
			}
		}
	}, nil
}

// ResizeOfPod returns the resize of a pod. The error is a NotReadyError, a
// PodNotFoundError or a NotResizedError.
func (q *Queries) ResizeOfPod(name types.NamespacedName) (*Resized, error) {
	if err := q.Cluster.CacheReady(); err != nil {
		return nil, err
	}
	found := q.Cluster.Pods(name.Namespace).Get(name.Name)
	if found == nil {
		return nil, &PodNotFoundError{name}
	}
	if resize := q.resizeOf(found); resize != nil {
		return resize, nil
	}
	return nil, &NotResizedError{name}
}

// ResizeChange is a change to the resize of one pod.
type ResizeChange struct {
	// Before is nil if the pod was not sized before. Now is nil if the pod is no longer sized or
	// was deleted. If the known workloads of a pod may have changed, both are the current
	// resize.
	Before, Now *Resized
	// Version is the resource version of the pod after the change, or the last one that is
	// known. It is 0 if the pod itself did not change.
	Version uint64
}

// ResizeWatch reports how far WatchResizes has got.
type ResizeWatch struct {
	// Ready returns a NotReadyError until all existing pods were reported.
	Ready func() error
	// Version returns a resource version that the pods have reached: all changes up to it
	// were reported, or are being reported.
	Version func() uint64
}

// WatchResizes calls changed for every existing resize, and after every change to one. Calls
// are never concurrent. Call WatchResizes before Run.
func (q *Queries) WatchResizes(changed func(ResizeChange)) ResizeWatch {
	var one sync.Mutex
	ready := q.Cluster.WatchPods(func(old, of *pod.Pod) {
		one.Lock()
		defer one.Unlock()
		before, now := q.resizeOf(old), q.resizeOf(of)
		version := versionOf(cmp.Or(of, old).ResourceVersion())
		switch {
		case before != nil && now != nil && before.UID != now.UID:
			changed(ResizeChange{Before: before, Version: version})
			changed(ResizeChange{Now: now, Version: version})
		case !before.same(now):
			changed(ResizeChange{before, now, version})
		}
	}, func(name types.NamespacedName) {
		one.Lock()
		defer one.Unlock()
		if now := q.resizeOf(q.Cluster.Pods(name.Namespace).Get(name.Name)); now != nil {
			changed(ResizeChange{Before: now, Now: now})
		}
	})
	return ResizeWatch{Ready: ready, Version: func() uint64 { return versionOf(q.Cluster.PodsVersion()) }}
}

// versionOf returns a resource version as a number; 0 if it is none.
func versionOf(resourceVersion string) uint64 {
	version, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// resizeOf returns ResizeOf with the pod's known workloads; nil if there is no pod.
func (q *Queries) resizeOf(of *pod.Pod) *Resized {
	if of == nil || !of.Sized() {
		return nil
	}
	return ResizeOf(of, q.Cluster.Owners().Chain(nil, of)...)
}
