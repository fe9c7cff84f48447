package chaos

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// account is the history of a pod, from every state that it had. It is based on the pod
// as created, on who wrote each state, and on the rules at that time, and not on what the
// reconciler reports.
type account struct {
	// originals are the amounts from which sizes are scaled and restored: the amounts at
	// creation and, for parts adopted since, the originals that give the adopted amounts.
	originals map[part]int64
	setBy     map[part]setter
	// unproven are the parts whose original in an annotation has an unknown writer.
	unproven map[part]bool
	// lapsed are the parts that the author had set until a write of the reconciler made
	// the API server merge its record. Plans from before that are still right.
	lapsed map[part]bool
	// adopted are the rules by which amounts of other actors were adopted, for amounts that
	// still exist.
	adopted map[part][]rule
	last    *corev1.Pod
	// told are the last states, for failure messages.
	told []string
}

// setter is the actor that set an amount of a pod.
type setter int

const (
	author setter = iota
	server
	third
	// nobodyKnows: the API server has merged its record of the actor.
	nobodyKnows
)

func accountOf(created *corev1.Pod) *account {
	return &account{originals: amountsOf(created), setBy: map[part]setter{}, adopted: map[part][]rule{}, last: created}
}

// original returns the original of a resource.
func (a *account) original(p pair) oracle.Amount {
	return oracle.Amount{Request: a.originals[p.request()], Limit: a.originals[p.limit()]}
}

// known reports whether the server can know the original of a resource from the pod.
func (a *account) known(p pair, pod *corev1.Pod) bool {
	return !slices.ContainsFunc(p.parts(), func(p part) bool {
		_, recorded := p.which.In(pod.Annotations, p.container)
		return a.setBy[p] == nobodyKnows || a.setBy[p] != author && (!recorded || a.unproven[p])
	})
}

// set reports whether the setter set any part of a resource.
func (a *account) set(p pair, by setter) bool {
	return slices.ContainsFunc(p.parts(), func(p part) bool { return a.setBy[p] == by })
}

// left reports whether another actor set any part of a resource that was not adopted, or
// whose original has an unknown writer.
func (a *account) left(p pair, pod *corev1.Pod) bool {
	return slices.ContainsFunc(p.parts(), func(p part) bool { return a.setBy[p] == third && (a.unproven[p] || !adopted(pod, p)) })
}

// adopted reports whether the pod is annotated with its current amount as adopted.
func adopted(pod *corev1.Pod, p part) bool {
	text, ok := p.which.AdoptedIn(pod.Annotations, p.container)
	return ok && amountIn(text, p) == amountsOf(pod)[p]
}

// amountIn parses an annotation. It returns -1, which no part has, if the annotation is
// invalid.
func amountIn(text string, p part) int64 {
	q, err := resource.ParseQuantity(text)
	switch {
	case err != nil:
		return -1
	case p.which == contract.CPURequest || p.which == contract.CPULimit:
		return q.MilliValue()
	}
	return q.Value()
}

// see records the next state of the pod and returns what is wrong with it. theirs is
// whether an actor other than the reconciler wrote it.
func (a *account) see(pod *corev1.Pod, theirs bool, rules []rule) (wrong []string) {
	before, now, was := amountsOf(a.last), amountsOf(pod), maps.Clone(a.setBy)
	written := !maps.Equal(before, now) || !maps.Equal(ours(a.last), ours(pod))
	a.findSetters(pod)
	lapsed := a.lapsed
	a.lapsed = map[part]bool{}
	for p := range now {
		a.lapsed[p] = !theirs && before[p] == now[p] && a.setBy[p] == third && (was[p] == author || lapsed[p])
	}
	if guaranteed(a.last) != guaranteed(pod) {
		wrong = append(wrong, "the QoS class changed")
	}
	switch {
	case theirs:
		for p := range now {
			if before[p] != now[p] {
				delete(a.adopted, p)
			}
		}
	case written:
		wrong = append(wrong, a.checkRecord(pod, was, rules)...)
		wrong = append(wrong, a.checkSizes(pod, was, lapsed, rules)...)
		for p := range now {
			// A restore returns a part to its author if the part has its original.
			givenBack := a.setBy[p] == author && now[p] == a.originals[p] && !marked(pod)
			if before[p] == now[p] && was[p] == third && a.setBy[p] != third && a.setBy[p] != nobodyKnows && !givenBack {
				wrong = append(wrong, fmt.Sprintf("%v was set by another actor, but no longer is", p))
			}
		}
	}
	a.last = pod
	return wrong
}

// checkRecord checks the originals in annotations that the reconciler wrote: they must be
// correct, adopted from amounts that another actor set, or removed because the pod has
// all of them.
func (a *account) checkRecord(pod *corev1.Pod, was map[part]setter, rules []rule) (wrong []string) {
	removed, fresh := false, map[part]bool{}
	for p := range a.originals {
		before, had := p.which.In(a.last.Annotations, p.container)
		text, has := p.which.In(pod.Annotations, p.container)
		removed = removed || had && !has
		noted, _ := p.which.AdoptedIn(pod.Annotations, p.container)
		if notedBefore, _ := p.which.AdoptedIn(a.last.Annotations, p.container); has && was[p] == third && noted != notedBefore && adopted(pod, p) {
			fresh[p] = true // Perhaps as the amount that its original already gives.
		}
		if !has || text == before {
			continue
		}
		if to := amountIn(text, p); was[p] == third && mayDo(rules, plan.AdoptExternal) {
			a.originals[p], fresh[p] = to, true
		} else if to != a.originals[p] {
			wrong = append(wrong, fmt.Sprintf("the original of %v becomes %s, want %d", p, text, a.originals[p]))
		}
	}
	for p := range pairsOf(pod) {
		if slices.ContainsFunc(p.parts(), func(p part) bool { return fresh[p] }) {
			wrong = append(wrong, a.checkAdoption(p, pod, fresh, rules)...)
		}
	}
	if removed && (!maps.Equal(a.originals, amountsOf(pod)) || len(ours(pod)) > 0) {
		wrong = append(wrong, fmt.Sprintf("originals are removed: remaining annotations %v, originals %v", ours(pod), a.originals))
	}
	return wrong
}

// checkAdoption checks that the originals of newly adopted parts give the amounts that
// the other actor set, and records by which rules they do.
func (a *account) checkAdoption(p pair, pod *corev1.Pod, fresh map[part]bool, rules []rule) (wrong []string) {
	original := a.original(p)
	by := slices.DeleteFunc(slices.Clone(rules), func(r rule) bool {
		return r.external != plan.AdoptExternal || !r.comesTo(original, p, fresh, pod.Spec.NodeName)
	})
	// If the actor set only the request or only the limit, its original cannot pass the
	// original of the other, and equal originals stay equal.
	if met := original.Limit == original.Request; len(by) == 0 && !met {
		wrong = append(wrong, fmt.Sprintf("%s %s of %v is adopted with originals %v", p.container.Name, p.resource, p.now(), original))
	}
	for _, p := range p.parts() {
		if fresh[p] {
			a.adopted[p] = by
		}
	}
	return wrong
}

// checkSizes checks whether the reconciler was allowed to give the pod its sizes.
func (a *account) checkSizes(pod *corev1.Pod, was map[part]setter, lapsed map[part]bool, rules []rule) (wrong []string) {
	before, now := amountsOf(a.last), amountsOf(pod)
	for p := range pairsOf(pod) {
		changed := slices.DeleteFunc(p.parts(), func(p part) bool { return before[p] == now[p] })
		if len(changed) == 0 {
			continue
		}
		original, kept := a.original(p), map[part]bool{}
		for _, q := range p.parts() {
			kept[q] = a.adopts(q) && !slices.Contains(changed, q)
		}
		limit := p.limit()
		_, recorded := limit.which.In(a.last.Annotations, limit.container)
		// A limit that was added after its original would have been recorded stays.
		stays := !recorded && a.setBy[limit] == nobodyKnows && !slices.Contains(changed, limit)
		fits := func(r rule) bool {
			want := r.want(original, p, pod.Spec.NodeName)
			return stays && p.now().Request == want.Request || asAdopted(p, original, want, kept) || len(kept) > 0 && (kept[p.request()] || kept[p.limit()]) && p.near(want)
		}
		if p.now() != original && !slices.ContainsFunc(rules, fits) {
			wrong = append(wrong, fmt.Sprintf("%s %s becomes %v, which no rule gives: the original is %v", p.container.Name, p.resource, p.now(), original))
		}
		if restarts(p.container, p.resource) {
			wrong = append(wrong, fmt.Sprintf("%s %s changes, which restarts the container", p.container.Name, p.resource))
		}
		for _, q := range p.parts() {
			same := map[part]bool{q: true}
			// Adopting an amount that the original already gives leaves the original
			// unchanged.
			unseen := slices.ContainsFunc(rules, func(r rule) bool {
				return r.external == plan.AdoptExternal && r.comesTo(original, p.in(a.last), same, pod.Spec.NodeName)
			})
			if was[q] == third && !lapsed[q] && !a.adopts(q) && !unseen && !mayDo(rules, plan.OverrideExternal) {
				wrong = append(wrong, fmt.Sprintf("%v was set by another actor, but %s changes from %v", q, p.resource, before))
			}
		}
		for _, q := range changed {
			moved := slices.ContainsFunc(rules, func(r rule) bool { return !a.adoptedBy(q, r) || !r.holds(p, before[p.request()]) })
			// An override uses the originals, even if their adoption is not recorded yet.
			overridden := mayDo(rules, plan.OverrideExternal)
			if a.adopts(q) && was[q] == third && !moved && !overridden && p.now() != original {
				wrong = append(wrong, fmt.Sprintf("%v was adopted as %d, but becomes %d although nothing has changed", q, before[q], now[q]))
			}
			delete(a.adopted, q)
		}
	}
	return wrong
}

// asAdopted reports whether a resource is as desired, except for adopted amounts that are
// kept and their effect on the limit. The limit follows the factor alone, and the
// original of the request was rounded.
func asAdopted(p pair, original, want oracle.Amount, kept map[part]bool) bool {
	now, unit := p.now(), int64(1)
	if p.resource == corev1.ResourceMemory {
		unit = oracle.Mebibyte
	}
	tolerance := (2*distance(now.Request, want.Request) + unit) * ceiling(big.NewRat(max(want.Limit, 1), original.Request))
	return (kept[p.request()] || now.Request == want.Request) &&
		(kept[p.limit()] || now.Limit == want.Limit || kept[p.request()] && distance(now.Limit, want.Limit) <= tolerance)
}

func (a *account) adopts(p part) bool { return a.adopted[p] != nil }

// adoptedBy reports whether a part was adopted with the ratios of a rule.
func (a *account) adoptedBy(p part, r rule) bool {
	return slices.ContainsFunc(a.adopted[p], func(by rule) bool { return by.table == r.table && maps.Equal(by.nodeTypes, r.nodeTypes) })
}

// mayDo reports whether a process may have been configured to treat external resizes in
// this way.
func mayDo(rules []rule, external plan.External) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.external == external })
}

// findSetters finds who set each part, from the API server's record.
func (a *account) findSetters(pod *corev1.Pod) {
	record := recordOf(pod)
	a.unproven = map[part]bool{}
	for p := range amountsOf(pod) {
		a.unproven[p] = slices.ContainsFunc(record.annotators(p.which.Key(p.container)), func(m metav1.ManagedFieldsEntry) bool { return m.Manager == ancient })
		a.setBy[p] = a.setterOf(p, record)
	}
}

func (a *account) setterOf(p part, r record) setter {
	owners, by, merged := r.owners(p), author, r.merged()
	for i := range owners {
		switch m := &owners[i]; {
		case m.Manager == ancient:
			// If it shares the part with others, they count.
		case m.Subresource == "" && merged:
			return nobodyKnows // The oldest entry is merged first.
		case m.Subresource == "":
			return author
		case m.Manager == contract.FieldManager:
			by = server
		case by == author:
			by = third
		}
	}
	switch {
	case !merged:
	case by == author:
		return nobodyKnows
	case by == server && a.unproven[p]:
		return nobodyKnows
	}
	return by
}

// ours returns the annotations of the contract.
func ours(pod *corev1.Pod) map[string]string {
	all := maps.Clone(pod.Annotations)
	maps.DeleteFunc(all, func(key, _ string) bool { return !strings.HasPrefix(key, contract.Prefix) })
	return all
}

// guaranteed reports whether the limits of each container equal its requests.
func guaranteed(pod *corev1.Pod) bool {
	for p := range pairsOf(pod) {
		if now := p.now(); now.Request == 0 || now.Request != now.Limit {
			return false
		}
	}
	return true
}
