package reconciler

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// watch makes changes in the cluster queue the pods concerned.
func (r *Reconciler) watch() error {
	core := r.factory.Core().V1()
	watched := []struct {
		informer cache.SharedIndexInformer
		changed  func(old, obj any)
	}{
		{core.Pods().Informer(), r.podChanged},
		{core.Nodes().Informer(), r.nodeChanged},
		{core.LimitRanges().Informer(), func(old, obj any) {
			r.enqueueHeld(namespaceOf(old, obj), contract.LimitRangeViolation)
		}},
		{core.ResourceQuotas().Informer(), r.quotaChanged},
		// Autoscalers decide nothing: a plan that is asked for tells of them.
		{r.factory.Autoscaling().V2().HorizontalPodAutoscalers().Informer(), func(any, any) {}},
	}
	for _, w := range watched {
		if err := w.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
			r.unread.Store(&err)
		}); err != nil {
			return fmt.Errorf("watch the cluster: %w", err)
		}
		if _, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { w.changed(nil, obj) },
			UpdateFunc: func(old, obj any) { w.changed(old, obj) },
			DeleteFunc: func(obj any) {
				if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj = gone.Obj
				}
				w.changed(obj, nil)
			},
		}); err != nil {
			return fmt.Errorf("watch the cluster: %w", err)
		}
	}
	return nil
}

// podChanged queues a pod, and those of its node that wait for room.
func (r *Reconciler) podChanged(old, obj any) {
	before, _ := old.(*pod.Pod)
	now, _ := obj.(*pod.Pod)
	roomier := ""
	switch {
	case now == nil:
		roomier = r.usage.remove(before.UID)
		now = before
	case before != nil && before.ResourceVersion() == now.ResourceVersion():
		return // A new list shows what is known already.
	default:
		if before != nil && before.UID != now.UID {
			roomier = r.usage.remove(before.UID)
		}
		if node := r.usage.set(now); node != "" {
			roomier = node
		}
	}
	if obj != nil {
		r.answers.hear(now, r.node(now))
	}
	r.queue.Add(now.NamespacedName())
	if roomier != "" {
		r.enqueueHeld(roomier, contract.NodeCapacity)
	}
}

// quotaChanged queues the pods that wait for a quota, if it has more room than
// before: each pod that comes takes some.
func (r *Reconciler) quotaChanged(old, obj any) {
	before, _ := old.(*corev1.ResourceQuota)
	quota, _ := obj.(*corev1.ResourceQuota)
	if before != nil && quota != nil && !roomierQuota(before, quota) {
		return
	}
	r.enqueueHeld(namespaceOf(old, obj), contract.QuotaExceeded)
}

// roomierQuota tells whether a quota has more room than before, or counts
// otherwise.
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

// nodeChanged queues the pods of a node whose sizes may depend on the change.
func (r *Reconciler) nodeChanged(old, obj any) {
	before, _ := old.(*corev1.Node)
	node, _ := obj.(*corev1.Node)
	switch {
	case node == nil:
		r.answers.forget(before.Name)
		r.enqueueNode(before.Name)
	case before == nil || !r.sameType(before, node) || plan.MachineOf(before) != plan.MachineOf(node):
		r.enqueueNode(node.Name)
	case !sameRoom(before, node):
		r.enqueueHeld(node.Name, contract.NodeCapacity, contract.NodePressure, contract.ResizeInfeasible, contract.ResizeError)
	}
}

// sameType tells whether two states of a node have the same labels that tell
// its type.
func (r *Reconciler) sameType(a, b *corev1.Node) bool {
	for _, label := range r.Planner.NodeTypes.Labels() {
		if a.Labels[label] != b.Labels[label] {
			return false
		}
	}
	return true
}

// sameRoom tells whether two states of a node have the same room for pods.
func sameRoom(a, b *corev1.Node) bool {
	return a.Status.Allocatable.Cpu().Equal(*b.Status.Allocatable.Cpu()) &&
		a.Status.Allocatable.Memory().Equal(*b.Status.Allocatable.Memory()) &&
		maps.Equal(pressures(a), pressures(b))
}

func pressures(n *corev1.Node) map[corev1.NodeConditionType]bool {
	under := map[corev1.NodeConditionType]bool{}
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Status == corev1.ConditionTrue {
			under[c.Type] = true
		}
	}
	return under
}

func namespaceOf(objects ...any) string {
	for _, obj := range objects {
		if o, ok := obj.(interface{ GetNamespace() string }); ok {
			return o.GetNamespace()
		}
	}
	return ""
}

func (r *Reconciler) enqueueAll(pods []*pod.Pod) {
	for _, of := range pods {
		r.queue.Add(of.NamespacedName())
	}
}

// enqueueNode queues the pods of a node.
func (r *Reconciler) enqueueNode(node string) { r.enqueueAll(r.pods.On(node)) }

// enqueueHeld queues the pods of a namespace or node that were last left alone for
// one of these reasons. Those that are being planned now see the count go up.
func (r *Reconciler) enqueueHeld(place string, reasons ...contract.Reason) {
	r.changes.Add(1)
	for _, pod := range r.ledger.held(place, reasons...) {
		r.queue.Add(pod)
	}
}

// enqueueNamespace queues all pods of a namespace.
func (r *Reconciler) enqueueNamespace(namespace string) {
	r.enqueueAll(r.pods.Pods(namespace).List())
}

// enqueueAffected queues the pods for which the rules say something else than
// what they were last planned with, and those that never were. Of pods that are not looked
// at, as nothing has changed for their nodes, both say the same.
func (r *Reconciler) enqueueAffected(before, now rules) {
	pods := r.pods.Pods("").List
	if before.table != nil && before.holds == now.holds && before.table.MatchesAs(now.table) {
		pods = func() []*pod.Pod { return r.onNodesOtherwise(before.table, now.table) }
	}
	for _, k := range pods() {
		name := k.NamespacedName()
		before, ok := r.ledger.plannedWith(name)
		if !ok || r.affected(k, before, now) {
			r.queue.Add(name)
			continue
		}
		r.ledger.unaffected(name, before, now)
	}
}

// onNodesOtherwise are the pods of nodes for which two tables say something else, to
// whatever pod. A pod whose node is not known waits for that.
func (r *Reconciler) onNodesOtherwise(before, now *ratios.Table) (pods []*pod.Pod) {
	for _, node := range all(r.nodes.List) {
		if r.saysOtherwise(node, before, now) {
			pods = append(pods, r.pods.On(node.Name)...)
		}
	}
	return pods
}

func (r *Reconciler) saysOtherwise(node *corev1.Node, before, now *ratios.Table) bool {
	profiles := now.Profiles()
	for i, profile := range before.Profiles() {
		a, b := r.Planner.RuleBy(profile, node, ""), r.Planner.RuleBy(profiles[i], node, "")
		if !a.SizesAs(&b) {
			return true
		}
	}
	return false
}

func (r *Reconciler) affected(of *pod.Pod, before, now rules) bool {
	if before.holds != now.holds && r.heldOtherwise(of, before.holds, now.holds) {
		return true
	}
	if before.table == now.table {
		return false
	}
	node := r.node(of)
	a, b := r.Planner.Rule(of, node, "", before.table), r.Planner.Rule(of, node, "", now.table)
	return !a.SizesAs(&b)
}

// heldOtherwise tells whether holds say something else of a pod than before.
func (r *Reconciler) heldOtherwise(of *pod.Pod, before, now *hold.Table) bool {
	workloads := r.owners.Chain(make([]safety.Workload, 0, 4), of) // Few have more.
	heldBefore, _ := before.Of(of.Namespace(), of.Name, of.UID, workloads...)
	heldNow, _ := now.Of(of.Namespace(), of.Name, of.UID, workloads...)
	return heldBefore.Kind != heldNow.Kind
}

// rules are what people have said of pods' sizes.
type rules struct {
	table *ratios.Table
	holds *hold.Table
}

// rules returns what is in force; false while it is not known.
func (r *Reconciler) rules() (rules, bool) {
	holds, err := r.Holds.Ready()
	table := r.Ratios.Table()
	return rules{table, holds}, err == nil && table != nil
}
