package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// vpas holds the VerticalPodAutoscalers of a cluster. Many clusters do not have that kind.
type vpas struct {
	informer cache.SharedIndexInformer
	// absent reports whether the API server does not have the kind.
	absent atomic.Bool
	// err is why the autoscalers are unknown; nil if no error is known.
	err atomic.Pointer[error]
}

var vpaResource = schema.GroupVersionResource{Group: "autoscaling.k8s.io", Version: "v1", Resource: "verticalpodautoscalers"}

// newVPAs returns vpas whose informer does not run yet. changed is called with the
// namespace of each autoscaler that is added or deleted, or whose target or update mode
// changes.
func newVPAs(client dynamic.Interface, changed func(namespace string)) (*vpas, error) {
	v := &vpas{informer: dynamicinformer.NewFilteredDynamicInformer(client, vpaResource, "", 0,
		cache.Indexers{byTarget: indexVPA}, nil).Informer()}
	err := errors.Join(
		v.informer.SetTransform(trimVPA),
		v.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
			if apierrors.IsNotFound(err) {
				v.absent.Store(true)
				return
			}
			v.err.Store(&err)
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("watch VerticalPodAutoscalers: %w", err)
	}
	if _, err = v.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { changed(obj.(*unstructured.Unstructured).GetNamespace()) },
		UpdateFunc: func(old, obj any) {
			// Its recommender writes its status every minute.
			if o, n := old.(*unstructured.Unstructured), obj.(*unstructured.Unstructured); targetOf(o) != targetOf(n) {
				changed(n.GetNamespace())
			}
		},
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if o, ok := obj.(*unstructured.Unstructured); ok {
				changed(o.GetNamespace())
			}
		},
	}); err != nil {
		return nil, fmt.Errorf("watch VerticalPodAutoscalers: %w", err)
	}
	return v, nil
}

// wait returns once the autoscalers are known, or the kind is known not to exist. It fails
// only when ctx is done.
func (v *vpas) wait(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		return v.absent.Load() || v.informer.HasSynced(), nil
	})
}

// vpaTarget is the workload that an autoscaler sizes, and its update mode.
type vpaTarget struct{ kind, name, mode string }

func targetOf(o *unstructured.Unstructured) vpaTarget {
	field := func(path ...string) string {
		// A field of another type counts as missing.
		text, _, _ := unstructured.NestedString(o.Object, path...)
		return text
	}
	return vpaTarget{field("spec", "targetRef", "kind"), field("spec", "targetRef", "name"), field("spec", "updatePolicy", "updateMode")}
}

// of returns the name of the active autoscaler of a pod's workloads, which are ordered from
// the narrowest; empty if there is none.
func (v *vpas) of(namespace string, workloads []safety.Workload) string {
	for _, w := range workloads {
		for _, obj := range ofTarget(v.informer.GetIndexer(), namespace, w) {
			if o := obj.(*unstructured.Unstructured); safety.VPAActive(targetOf(o).mode) {
				return o.GetName()
			}
		}
	}
	return ""
}

func indexVPA(obj any) ([]string, error) {
	o, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, nil
	}
	t := targetOf(o)
	return []string{targetKey(o.GetNamespace(), t.kind, t.name)}, nil
}

// trimVPA drops the status and the managed fields, which no plan needs.
func trimVPA(obj any) (any, error) {
	o, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, nil
	}
	unstructured.RemoveNestedField(o.Object, "status")
	o.SetManagedFields(nil)
	return o, nil
}
