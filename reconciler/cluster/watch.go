package cluster

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// watch registers the handlers that report changes.
func (c *Cluster) watch() error {
	core := c.factory.Core().V1()
	watched := []struct {
		informer cache.SharedIndexInformer
		changed  func(old, obj any)
	}{
		{core.Pods().Informer(), c.podChanged},
		{core.Nodes().Informer(), c.nodeChanged},
		{core.LimitRanges().Informer(), func(old, obj any) {
			c.changes.Eased(namespaceOf(old, obj), contract.LimitRangeViolation)
		}},
		{core.ResourceQuotas().Informer(), c.quotaChanged},
		{c.factory.Policy().V1().PodDisruptionBudgets().Informer(), c.budgetChanged},
		{c.factory.Autoscaling().V2().HorizontalPodAutoscalers().Informer(), c.hpaChanged},
	}
	for _, w := range watched {
		if err := w.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
			c.unread.Store(&err)
		}); err != nil {
			return fmt.Errorf("watch the cluster: %w", err)
		}
		if _, err := w.informer.AddEventHandler(handler(w.changed)); err != nil {
			return fmt.Errorf("watch the cluster: %w", err)
		}
	}
	return nil
}

// handler calls changed with the object before the event, nil if it was added, and the
// object after the event, nil if it was deleted.
func handler(changed func(old, obj any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { changed(nil, obj) },
		UpdateFunc: changed,
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			changed(obj, nil)
		},
	}
}

// WatchPods calls changed for every existing pod, and after every change to a pod: before
// is nil if the pod was added, now is nil if it was deleted. It calls above for pods whose
// known owners may have changed. The returned function returns a NotReadyError until all
// existing pods were reported. Call WatchPods before Read.
func (c *Cluster) WatchPods(changed func(before, now *pod.Pod), above func(types.NamespacedName)) (ready func() error) {
	c.above = append(c.above, above)
	told, err := c.factory.Core().V1().Pods().Informer().AddEventHandler(handler(func(old, obj any) {
		before, _ := old.(*pod.Pod)
		now, _ := obj.(*pod.Pod)
		changed(before, now)
	}))
	if err != nil {
		// The only error is an informer that has ended.
		panic(fmt.Sprintf("cluster: watch pods: %v", err))
	}
	return func() error {
		if err := c.CacheReady(); err != nil || told.HasSynced() {
			return err
		}
		return &NotReadyError{CacheNotReady, errCacheNotReady}
	}
}

// WatchNodes calls changed with the name of every existing node, and of every node that is created,
// changed or deleted. Call WatchNodes before Read.
func (c *Cluster) WatchNodes(changed func(name string)) {
	_, err := c.factory.Core().V1().Nodes().Informer().AddEventHandler(handler(func(old, obj any) {
		before, _ := old.(*corev1.Node)
		now, _ := obj.(*corev1.Node)
		if now == nil {
			now = before
		}
		changed(now.Name)
	}))
	if err != nil {
		// The only error is an informer that has ended.
		panic(fmt.Sprintf("cluster: watch nodes: %v", err))
	}
}

// PodsVersion returns the resource version that the watch of the pods has reached; empty before
// the first list.
func (c *Cluster) PodsVersion() string {
	return c.factory.Core().V1().Pods().Informer().LastSyncResourceVersion()
}

// podChanged reports a pod, and the node on which it leaves room.
func (c *Cluster) podChanged(old, obj any) {
	before, _ := old.(*pod.Pod)
	now, _ := obj.(*pod.Pod)
	roomier := ""
	switch {
	case now == nil:
		roomier = c.rooms.Remove(before.UID)
		c.members.PodChanged(before, nil)
		now = before
	case before != nil && before.ResourceVersion() == now.ResourceVersion():
		return // A new list repeats a known version.
	default:
		if before != nil && before.UID != now.UID {
			roomier = c.rooms.Remove(before.UID)
		}
		if on := c.reserve(now); on != "" {
			roomier = on
		}
		c.members.PodChanged(before, now)
	}
	if obj != nil {
		c.answers.hear(now, c.Node(now))
	}
	c.changes.Changed(now.NamespacedName())
	if roomier != "" {
		c.changes.Eased(roomier, contract.NodeCapacity, contract.RevertBlocked)
	}
}

// reserve records the room that a pod takes of its node, and returns the node that has more than before; empty if there
// is none.
func (c *Cluster) reserve(of *pod.Pod) (roomier string) {
	return c.rooms.Set(of, guard.Keeps(of, policy.LongestWindow, c.Clock.Now()))
}

// quotaChanged reports quotas that have more room than before. Other changes are frequent:
// each new pod takes some room.
func (c *Cluster) quotaChanged(old, obj any) {
	before, _ := old.(*corev1.ResourceQuota)
	quota, _ := obj.(*corev1.ResourceQuota)
	if before != nil && quota != nil && !roomierQuota(before, quota) {
		return
	}
	c.changes.Eased(namespaceOf(old, obj), contract.QuotaExceeded)
}

// roomierQuota reports whether a quota has more room than before, or counts
// differently.
func roomierQuota(before, now *corev1.ResourceQuota) bool {
	if !apiequality.Semantic.DeepEqual(before.Spec, now.Spec) || len(before.Status.Used) != len(now.Status.Used) || len(before.Status.Hard) != len(now.Status.Hard) {
		return true
	}
	for name, used := range now.Status.Used {
		hard, usedBefore, hardBefore := now.Status.Hard[name], before.Status.Used[name], before.Status.Hard[name]
		if used.Cmp(usedBefore) < 0 || hard.Cmp(hardBefore) > 0 {
			return true
		}
	}
	return false
}

// nodeChanged reports the pods of a node whose sizes may depend on the change.
func (c *Cluster) nodeChanged(old, obj any) {
	before, _ := old.(*corev1.Node)
	now, _ := obj.(*corev1.Node)
	if before == nil || now == nil || !sameAdmission(before, now) {
		c.nodesRevision.Add(1)
	}
	switch {
	case now == nil:
		c.answers.forget(before.Name)
		c.changed(c.pods.On(before.Name))
	case before == nil || !c.sameType(before, now) || plan.MachineOf(before) != plan.MachineOf(now) || !sameReadiness(before, now):
		c.changed(c.pods.On(now.Name))
	case !node.SameRoom(before, now):
		c.changes.Eased(now.Name, contract.NodeCapacity, contract.NodePressure, contract.RevertBlocked, contract.ResizeInfeasible, contract.ResizeError)
	}
}

// sameAdmission reports whether the scheduler lets the same pods run on two states of a node, if it has room.
func sameAdmission(a, b *corev1.Node) bool {
	return a.Spec.Unschedulable == b.Spec.Unschedulable && maps.Equal(a.Labels, b.Labels) && apiequality.Semantic.DeepEqual(a.Spec.Taints, b.Spec.Taints) &&
		node.SameRoom(a, b)
}

// sameType reports whether two states of a node have the same values for the labels that
// determine its type.
func (c *Cluster) sameType(a, b *corev1.Node) bool {
	for _, label := range c.Planner.NodeTypes.Labels() {
		if a.Labels[label] != b.Labels[label] {
			return false
		}
	}
	return true
}

// sameReadiness reports whether a node has been ready or not for the same time in two states: what
// pods show counts from the time when their node is ready.
func sameReadiness(a, b *corev1.Node) bool { return readyOf(a) == readyOf(b) }

// readyOf returns the Ready condition of a node, which has nothing but what trimNode keeps.
func readyOf(n *corev1.Node) (ready corev1.NodeCondition) {
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			ready = *c
		}
	}
	return ready
}

func namespaceOf(objects ...any) string {
	for _, obj := range objects {
		if o, ok := obj.(interface{ GetNamespace() string }); ok {
			return o.GetNamespace()
		}
	}
	return ""
}

// Changed reports that something else that the plan of a pod depends on has changed.
func (c *Cluster) Changed(of *pod.Pod) {
	if c.changes != nil {
		c.changes.Changed(of.NamespacedName())
	}
}

// changed reports pods as changed.
func (c *Cluster) changed(pods []*pod.Pod) {
	for _, of := range pods {
		c.changes.Changed(of.NamespacedName())
	}
}
