package cluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
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
	"github.com/workload-resizer/workload-resizer/reconciler/vpa"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// vpas holds the VerticalPodAutoscalers of a cluster. Many clusters do not have that kind.
type vpas struct {
	informer cache.SharedIndexInformer
	// absent reports whether the API server does not have the kind.
	absent atomic.Bool
	// err is why the autoscalers are unknown; nil if no error is known.
	err atomic.Pointer[error]
	// policies are called after each change to the policy of an autoscaler.
	policies []func()
}

// VPAResource is the resource of VerticalPodAutoscalers.
var VPAResource = schema.GroupVersionResource{Group: "autoscaling.k8s.io", Version: "v1", Resource: "verticalpodautoscalers"}

// newVPAs returns vpas whose informer does not run yet. changed is called with both states of each autoscaler that is added
// or deleted, or that sizes something else than before; nil if it does not exist.
func newVPAs(client dynamic.Interface, changed func(before, now *vpa.Object)) (*vpas, error) {
	v := &vpas{informer: dynamicinformer.NewFilteredDynamicInformer(client, VPAResource, "", 0,
		cache.Indexers{byTarget: indexVPA}, nil).Informer()}
	err := errors.Join(
		v.informer.SetTransform(readVPA),
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
	if _, err = v.informer.AddEventHandler(handler(func(old, obj any) {
		before, _ := old.(*vpa.Object)
		now, _ := obj.(*vpa.Object)
		if before == nil || now == nil || before.Target != now.Target || !reflect.DeepEqual(before.Sizes, now.Sizes) {
			// Recommenders write the status every minute.
			changed(before, now)
		}
		if !before.SaysAs(now) {
			v.policyChanged()
		}
	})); err != nil {
		return nil, fmt.Errorf("watch VerticalPodAutoscalers: %w", err)
	}
	return v, nil
}

// policyChanged reports a change to a policy.
func (v *vpas) policyChanged() {
	for _, changed := range v.policies {
		changed()
	}
}

// vpaChanged reports the pods that a VerticalPodAutoscaler targets, or no longer does. A tenant may have thousands of them.
func (c *Cluster) vpaChanged(before, now *vpa.Object) {
	if !c.IsFilled() {
		return // Before the cluster is read, no pod is planned.
	}
	var targets []workload.Workload
	namespace := ""
	for _, o := range [...]*vpa.Object{before, now} {
		if o != nil {
			namespace, targets = o.Namespace(), append(targets, o.Target)
		}
	}
	var owners []workload.Workload
	for _, of := range c.pods.Pods(namespace).List() {
		owners = c.owners.Chain(owners[:0], of)
		if slices.ContainsFunc(owners, func(w workload.Workload) bool { return slices.Contains(targets, w) }) {
			c.changes.Changed(of.NamespacedName())
		}
	}
}

// WatchPolicies calls changed after each change to a VerticalPodAutoscaler that says what its target needs. Call it before
// Read.
func (c *Cluster) WatchPolicies(changed func()) {
	if c.VPAPolicies {
		c.vpas.policies = append(c.vpas.policies, changed)
	}
}

// Tunes reports whether a VerticalPodAutoscaler may say that pods with these workloads are resized by what they need.
func (c *Cluster) Tunes(namespace string, workloads []workload.Workload) bool {
	if !c.VPAPolicies {
		return false
	}
	for _, w := range workloads {
		for _, obj := range ofTarget(c.vpas.informer.GetIndexer(), namespace, w) {
			if p := obj.(*vpa.Object).Policy; p != nil && p.Fault == nil && p.Applies() {
				return true
			}
		}
	}
	return false
}

// KnowPolicy adds a VerticalPodAutoscaler as if it had been read, for tests.
func (c *Cluster) KnowPolicy(o *vpa.Object) error { return c.vpas.informer.GetStore().Add(o) }

// Policies returns the VerticalPodAutoscalers that say what their targets need, in any order.
func (c *Cluster) Policies() (all []*vpa.Object) {
	if !c.VPAPolicies {
		return nil
	}
	for _, obj := range c.vpas.informer.GetStore().List() {
		if o := obj.(*vpa.Object); o.Policy != nil {
			all = append(all, o)
		}
	}
	return all
}

// wait returns once the autoscalers are known, or the kind is known not to exist. It fails
// only when ctx is done.
func (v *vpas) wait(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		return v.absent.Load() || v.informer.HasSynced(), nil
	})
}

// of returns what sizes a pod with these workloads, which are ordered from the narrowest; nil if nothing does. An
// autoscaler that resizes running pods comes first. Of several for the same workload, the updater follows one alone.
func (v *vpas) of(namespace string, workloads []workload.Workload) *safety.VPA {
	var boosts *safety.VPA
	for _, w := range workloads {
		found := ofTarget(v.informer.GetIndexer(), namespace, w)
		if active := first(found, func(s *safety.VPA) bool { return s.Active }); active != nil {
			return active
		}
		if boosts == nil {
			boosts = first(found, func(s *safety.VPA) bool { return s.Boosts })
		}
	}
	return boosts
}

// first returns what the first of some autoscalers sizes, in the order of the updater, of those that meet a condition; nil if
// none does.
func first(of []any, meets func(*safety.VPA) bool) *safety.VPA {
	var found *vpa.Object
	for _, obj := range of {
		if o := obj.(*vpa.Object); meets(&o.Sizes) && (found == nil || o.Compare(found) < 0) {
			found = o
		}
	}
	if found == nil {
		return nil
	}
	return &found.Sizes
}

func indexVPA(obj any) ([]string, error) {
	o, ok := obj.(*vpa.Object)
	if !ok {
		return nil, nil
	}
	return []string{targetKey(o.Namespace(), o.Target.Kind, o.Target.Name)}, nil
}

// readVPA replaces an autoscaler with its vpa.Object.
func readVPA(obj any) (any, error) {
	if o, ok := obj.(*unstructured.Unstructured); ok {
		return vpa.From(o), nil
	}
	return obj, nil
}
