package reconciler

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

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
func (r *Reconciler) Resizes(ctx context.Context, q ResizeQuery) (iter.Seq2[*Resized, error], error) {
	if err := r.cacheReady(); err != nil {
		return nil, &NotReadyError{CacheNotReady, err}
	}
	if q.Selector == nil {
		q.Selector = labels.Everything()
	}
	if q.Sees == nil {
		q.Sees = func(string) (bool, error) { return true, nil }
	}
	return func(yield func(*Resized, error) bool) {
		asked, sees := "", false
		for k := range r.pods.Pods(q.Namespace).After(q.After) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			namespace := k.Namespace()
			if namespace == asked && !sees {
				continue
			}
			if !k.Sized() || !q.Selector.Matches(k.Labels()) {
				continue
			}
			if namespace != asked {
				var err error
				if sees, err = q.Sees(namespace); err != nil {
					yield(nil, err)
					return
				}
				asked = namespace
			}
			if sees && !yield(r.resizeOf(k), nil) {
				return
			}
		}
	}, nil
}

func compareNames(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// ResizeOfPod returns what was done to a pod. The error is a NotReadyError, a
// PodNotFoundError or a NotResizedError.
func (r *Reconciler) ResizeOfPod(name types.NamespacedName) (*Resized, error) {
	if err := r.cacheReady(); err != nil {
		return nil, &NotReadyError{CacheNotReady, err}
	}
	found := r.pods.Pods(name.Namespace).Get(name.Name)
	if found == nil {
		return nil, &PodNotFoundError{name}
	}
	if resize := r.resizeOf(found); resize != nil {
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
func (r *Reconciler) WatchResizes(changed func(before, now *Resized)) (ready func() error) {
	var one sync.Mutex
	tell := func(old, obj any) {
		one.Lock()
		defer one.Unlock()
		before, now := r.resizeOfObject(old), r.resizeOfObject(obj)
		switch {
		case before != nil && now != nil && before.UID != now.UID:
			changed(before, nil)
			changed(nil, now)
		case !before.same(now):
			changed(before, now)
		}
	}
	told, err := r.factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { tell(nil, obj) },
		UpdateFunc: tell,
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			tell(obj, nil)
		},
	})
	r.retell = append(r.retell, func(name types.NamespacedName) {
		one.Lock()
		defer one.Unlock()
		if found := r.pods.Pods(name.Namespace).Get(name.Name); found != nil {
			if now := r.resizeOf(found); now != nil {
				changed(now, now)
			}
		}
	})
	if err != nil {
		// Only an informer that has ended gives an error.
		panic(fmt.Sprintf("reconciler: watch resizes: %v", err))
	}
	return func() error {
		err := r.cacheReady()
		if err == nil && !told.HasSynced() {
			err = errCacheNotReady
		}
		if err != nil {
			return &NotReadyError{CacheNotReady, err}
		}
		return nil
	}
}

// resizeOfObject is resizeOf for what an informer has, nil if that is no pod.
func (r *Reconciler) resizeOfObject(obj any) *Resized {
	if of, ok := obj.(*pod.Pod); ok {
		return r.resizeOf(of)
	}
	return nil
}

// resizeOf is ResizeOf by what is known of the pod's workloads.
func (r *Reconciler) resizeOf(of *pod.Pod) *Resized {
	if !of.Sized() {
		return nil
	}
	return ResizeOf(of, r.owners.Chain(nil, of)...)
}
