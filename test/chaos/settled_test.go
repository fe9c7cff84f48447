package chaos

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// settled returns an error unless a pod is as it should be after a process has done
// everything that it can, given the pod's account. A paused pod may have any size.
func (c *crashes) settled(key types.NamespacedName) error {
	pod := c.pod(key)
	created := c.created[key]
	if pod == nil || pod.UID != created.UID {
		return fmt.Errorf("%s does not exist", key)
	}
	a := c.ledger.accounts[pod.UID]
	if a == nil || a.last.ResourceVersion != pod.ResourceVersion {
		return fmt.Errorf("%s is not accounted for yet", key)
	}
	kind := c.holds.of(pod).Kind
	if kind == hold.Pause {
		return nil
	}
	now, whole := c.rule(), true
	if a.changesClass(pod, &now, kind) {
		return nil // The API server rejects it.
	}
	for p := range pairsOf(pod) {
		if p.now().Request == 0 || a.set(p, nobodyKnows) {
			whole = whole && p.now().Request == 0
			continue // Changes by the reconciler were checked when they happened.
		}
		free := !a.left(p, pod) && !restarts(p.container, p.resource)
		whole = whole && free
		if err := a.settledPair(p, pod, &now, kind, free); err != nil {
			return fmt.Errorf("%s on %s: %s %s: %w%s", key, now.nodeTypes[pod.Spec.NodeName], p.container.Name, p.resource, err, c.circumstances(key, pod))
		}
	}
	if whole && kind == hold.Restore && len(ours(pod)) > 0 {
		return fmt.Errorf("%s is restored, but is still marked%s", key, c.circumstances(key, pod))
	}
	if whole && kind == "" && pod.Annotations[contract.AppliedInstanceType] != now.nodeTypes[pod.Spec.NodeName] {
		return fmt.Errorf("%s has annotations %v on %s", key, ours(pod), now.nodeTypes[pod.Spec.NodeName])
	}
	return nil
}

// circumstances returns details that help to find out why a pod is not settled.
func (c *crashes) circumstances(key types.NamespacedName, pod *corev1.Pod) string {
	return fmt.Sprintf("\nis: %s%v, written by %s; hold: %q\n%s", sizesOf(pod), ours(pod), writers(pod), c.holds.of(pod).Kind, c.planned(pod))
}

// settledPair returns an error unless one resource is as it should be. free is whether
// the reconciler may change it.
func (a *account) settledPair(p pair, pod *corev1.Pod, now *rule, kind hold.Kind, free bool) error {
	original, to := a.original(p), a.original(p)
	if kind == "" {
		to = now.want(original, p, pod.Spec.NodeName)
	}
	taken := map[part]bool{}
	for _, q := range p.parts() {
		taken[q] = adopted(pod, q)
		text, recorded := q.which.In(pod.Annotations, q.container)
		if amountsOf(pod)[q] != a.originals[q] && !recorded && a.setBy[q] == server {
			return fmt.Errorf("the original of %v is lost", q)
		}
		if recorded && a.setBy[q] != third && amountIn(text, q) != a.originals[q] {
			return fmt.Errorf("the original of %v is %s, want %d", q, text, a.originals[q])
		}
		if _, ok := q.which.AdoptedIn(pod.Annotations, q.container); ok && !adopted(pod, q) && free && kind == "" {
			return fmt.Errorf("the annotations wrongly say that %v was adopted", q)
		}
	}
	switch {
	case p.now() == to, restarts(p.container, p.resource):
		return nil
	case free && kind == "" && (taken[p.request()] || taken[p.limit()]) && p.near(to):
		return nil // Rounding back and forth does not change adopted amounts.
	case free && kind == "" && asAdopted(p, original, to, taken) && now.comesTo(original, p, taken, pod.Spec.NodeName):
		return nil // No original gives it exactly.
	case free:
		return fmt.Errorf("it is %v, want %v; its original is %v", p.now(), to, original)
	case now.external == plan.OverrideExternal && a.known(p, pod):
		return fmt.Errorf("another actor's %v must be overridden by %v; its original is %v", p.now(), to, original)
	case now.external == plan.AdoptExternal && kind == "" && !a.mixedUp(p, pod):
		return fmt.Errorf("another actor's %v must be adopted", p.now())
	}
	return nil
}

// changesClass reports whether the desired sizes would make the pod Guaranteed although
// it is not, or the other way round. That happens if other actors have set single
// resources.
func (a *account) changesClass(pod *corev1.Pod, now *rule, kind hold.Kind) bool {
	all := true
	for p := range pairsOf(pod) {
		to := a.original(p)
		switch {
		case now.external == plan.AdoptExternal && kind == "" && a.meets(p, pod, now):
			to = oracle.Amount{Request: 1, Limit: 1}
		case a.set(p, nobodyKnows), restarts(p.container, p.resource), a.left(p, pod) && (now.external != plan.OverrideExternal || !a.known(p, pod)):
			to = p.now()
		case kind == "":
			to = now.want(to, p, pod.Spec.NodeName)
		}
		all = all && to.Request > 0 && to.Request == to.Limit
	}
	return all != guaranteed(pod)
}

// meets reports whether the original of the part that another actor set meets the
// original of the other part. If the part is adopted, both originals become equal.
func (a *account) meets(p pair, pod *corev1.Pod, now *rule) bool {
	original, has := a.original(p), p.now()
	request, limit := a.setBy[p.request()] == third && !adopted(pod, p.request()), a.setBy[p.limit()] == third && !adopted(pod, p.limit())
	if original.Limit == 0 || request == limit {
		return false
	}
	factor, unit := now.factor(p, pod.Spec.NodeName)
	scaled := func(v int64) int64 {
		if p.resource == corev1.ResourceCPU {
			return oracle.CPU(oracle.Amount{Request: v}, factor, oracle.Range{}).Request
		}
		return oracle.Memory(oracle.Amount{Request: v}, factor, oracle.Range{}).Request
	}
	most := unit + ceiling(factor)
	if request {
		return has.Request+most >= scaled(original.Limit)
	}
	return has.Limit <= scaled(original.Request)+most
}

// mixedUp reports whether a resource cannot be adopted, because the server set part of it
// and the original of that part is unknown.
func (a *account) mixedUp(p pair, pod *corev1.Pod) bool {
	return slices.ContainsFunc(p.parts(), func(q part) bool {
		_, recorded := q.which.In(pod.Annotations, q.container)
		return a.unproven[q] || a.setBy[q] == server && !recorded
	})
}

// named returns an error unless a process that previews a restore names everything that
// it cannot restore.
func (c *crashes) named(life *incarnation, key types.NamespacedName) error {
	pod := c.pod(key)
	planned, err := life.Preview(c.ctx, key, query.PreviewOptions{Restore: true})
	if err != nil {
		return err
	}
	if !marked(pod) {
		return nil // There is nothing to restore.
	}
	var said strings.Builder
	for _, reason := range planned.Reasons {
		said.WriteString(reason.Message + "; ")
	}
	a, now := c.ledger.accounts[pod.UID], c.rule()
	if a.changesClass(pod, &now, hold.Restore) {
		return nil // The API server rejects it, and the reasons say so.
	}
	for p := range pairsOf(pod) {
		to := p.now()
		for i := range planned.Containers {
			if d := &planned.Containers[i]; d.Name == p.container.Name {
				to = oracle.Amount{Request: d.Desired.CPU.Request, Limit: d.Desired.CPU.Limit}
				if p.resource == corev1.ResourceMemory {
					to = oracle.Amount{Request: d.Desired.Memory.Request, Limit: d.Desired.Memory.Limit}
				}
			}
		}
		named := strings.Contains(said.String(), fmt.Sprintf("container %s: %s", p.container.Name, p.resource))
		if to != a.original(p) && !named {
			return fmt.Errorf("%s: %s %s becomes %v when restored, not %v, and the only reasons are: %s%s\n%s", key, p.container.Name, p.resource, to, a.original(p), said.String(),
				c.circumstances(key, pod), strings.Join(a.told, "\n"))
		}
	}
	return nil
}
