package cluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
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
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
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
// namespace of each autoscaler that is added or deleted, or whose spec changes.
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
			if o, n := old.(*unstructured.Unstructured), obj.(*unstructured.Unstructured); !reflect.DeepEqual(o.Object["spec"], n.Object["spec"]) {
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

// textIn returns a string field; empty if it is missing or has another type.
func textIn(o map[string]any, path ...string) string {
	text, _, _ := unstructured.NestedString(o, path...)
	return text
}

// of returns the autoscaler that may size a pod with these workloads, which are ordered from the
// narrowest; nil if there is none. One that resizes running pods comes first.
func (v *vpas) of(namespace string, workloads []workload.Workload) (found *safety.VPA) {
	for _, w := range workloads {
		for _, obj := range ofTarget(v.informer.GetIndexer(), namespace, w) {
			if read := vpaOf(obj.(*unstructured.Unstructured)); read.Active {
				return read
			} else if read.Boosts && found == nil {
				found = read
			}
		}
	}
	return found
}

// vpaOf reads an autoscaler. Fields of other types count as missing.
func vpaOf(o *unstructured.Unstructured) *safety.VPA {
	read := &safety.VPA{Name: o.GetName(), Active: safety.VPAActive(textIn(o.Object, "spec", "updatePolicy", "updateMode"))}
	_, read.Boosts, _ = unstructured.NestedFieldNoCopy(o.Object, "spec", "startupBoost", "cpu")
	policies, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "resourcePolicy", "containerPolicies")
	list, _ := policies.([]any)
	for i := range list {
		policy, _ := list[i].(map[string]any)
		_, boosts, _ := unstructured.NestedFieldNoCopy(policy, "startupBoost", "cpu")
		read.Boosts = read.Boosts || boosts
		resources, _, _ := unstructured.NestedStringSlice(policy, "controlledResources")
		read.Policies = append(read.Policies, safety.VPAPolicy{
			Container: textIn(policy, "containerName"), Off: textIn(policy, "mode") == "Off", Resources: resources,
		})
	}
	return read
}

func indexVPA(obj any) ([]string, error) {
	o, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, nil
	}
	return []string{targetKey(o.GetNamespace(), textIn(o.Object, "spec", "targetRef", "kind"), textIn(o.Object, "spec", "targetRef", "name"))}, nil
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
