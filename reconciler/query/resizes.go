package query

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// ResizeQuery says which resizes are asked for: those that all of it selects.
type ResizeQuery struct {
	// Namespace is the only one; empty for all.
	Namespace string
	// Selector selects pods by their labels; nil for all.
	Selector labels.Selector
	// After is the pod that the answer begins after; zero to begin at the start.
	After types.NamespacedName
	// Sees tells whether pods of a namespace may be told of; nil for all. It is asked
	// once per namespace of which there is something to tell.
	Sees func(namespace string) (bool, error)
}

// NotResizedError tells that the pod was never sized.
type NotResizedError struct{ Pod types.NamespacedName }

func (e *NotResizedError) Error() string {
	return fmt.Sprintf("pod %q in namespace %q was not sized; a preview says what speaks against it", e.Pod.Name, e.Pod.Namespace)
}

// Resizes are what was done to the pods that were sized, by namespace and name. They
// end with the error of Sees or ctx, if there is one. Each pod is looked at when its
// turn comes, so that a page of many costs no more than itself. The error that is
// returned is a NotReadyError.
func (q *Queries) Resizes(ctx context.Context, of ResizeQuery) (iter.Seq2[*Resized, error], error) {
	if err := q.Cluster.CacheReady(); err != nil {
		return nil, err
	}
	if of.Selector == nil {
		of.Selector = labels.Everything()
	}
	if of.Sees == nil {
		of.Sees = func(string) (bool, error) { return true, nil }
	}
	return func(yield func(*Resized, error) bool) {
		asked, sees := "", false
		for k := range q.Cluster.Pods(of.Namespace).After(of.After) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			namespace := k.Namespace()
			if namespace == asked && !sees {
				continue
			}
			if !k.Sized() || !of.Selector.Matches(k.Labels()) {
				continue
			}
			if namespace != asked {
				var err error
				if sees, err = of.Sees(namespace); err != nil {
					yield(nil, err)
					return
				}
				asked = namespace
			}
			if sees && !yield(q.resizeOf(k), nil) {
				return
			}
		}
	}, nil
}

// ResizeOfPod returns what was done to a pod. The error is a NotReadyError, a
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

// WatchResizes calls changed after every change of what was done to a pod, one
// call at a time: before is nil if the pod was not sized before, now if it is not,
// or not there, any more. Where what makes the pod may have become known, both are what
// they are now. It begins with all pods that there are. The function that it returns
// tells why not all of these were told yet, a NotReadyError, or nil.
// It must be called before Run.
func (q *Queries) WatchResizes(changed func(before, now *Resized)) (ready func() error) {
	var one sync.Mutex
	return q.Cluster.WatchPods(func(old, of *pod.Pod) {
		one.Lock()
		defer one.Unlock()
		before, now := q.resizeOf(old), q.resizeOf(of)
		switch {
		case before != nil && now != nil && before.UID != now.UID:
			changed(before, nil)
			changed(nil, now)
		case !before.same(now):
			changed(before, now)
		}
	}, func(name types.NamespacedName) {
		one.Lock()
		defer one.Unlock()
		if now := q.resizeOf(q.Cluster.Pods(name.Namespace).Get(name.Name)); now != nil {
			changed(now, now)
		}
	})
}

// resizeOf is ResizeOf by what is known of the pod's workloads; nil if there is no pod.
func (q *Queries) resizeOf(of *pod.Pod) *Resized {
	if of == nil || !of.Sized() {
		return nil
	}
	return ResizeOf(of, q.Cluster.Owners().Chain(nil, of)...)
}
