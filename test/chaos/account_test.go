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

// account is what became of a pod so far, from every state that it was in. It is kept
// from the pod as it was created, who wrote each state, and what people wanted at the
// time, and not from what the reconciler says of itself.
type account struct {
	// originals are what scaled and restored amounts come from: those of the creation,
	// and of what was adopted since, what comes to that.
	originals map[part]int64
	setBy     map[part]setter
	// unproven are the parts of whose original in an annotation nobody knows who wrote it.
	unproven map[part]bool
	// lapsed are the parts that were the author's until a write of the reconciler had the
	// API server merge its record: what was planned before is still right.
	lapsed map[part]bool
	// adopted are the rules by which others' amounts were adopted that are still there.
	adopted map[part][]rule
	last    *corev1.Pod
	// told are the last states, for who reads a failure.
	told []string
}

// setter is who set an amount that a pod has.
type setter int

const (
	author setter = iota
	server
	third
	// nobodyKnows: the API server has merged its record of that.
	nobodyKnows
)

func accountOf(created *corev1.Pod) *account {
	return &account{originals: amountsOf(created), setBy: map[part]setter{}, adopted: map[part][]rule{}, last: created}
}

// original is that of a resource.
func (a *account) original(p pair) oracle.Amount {
	return oracle.Amount{Request: a.originals[p.request()], Limit: a.originals[p.limit()]}
}

// known tells whether the server can know the original of a resource, as the pod is.
func (a *account) known(p pair, pod *corev1.Pod) bool {
	return !slices.ContainsFunc(p.parts(), func(p part) bool {
		_, recorded := p.which.In(pod.Annotations, p.container)
		return a.setBy[p] == nobodyKnows || a.setBy[p] != author && (!recorded || a.unproven[p])
	})
}

// set tells whether any part of a resource was set by one.
func (a *account) set(p pair, by setter) bool {
	return slices.ContainsFunc(p.parts(), func(p part) bool { return a.setBy[p] == by })
}

// left tells whether any part of a resource is another's that was not adopted, or of
// which nobody knows who said as what it was.
func (a *account) left(p pair, pod *corev1.Pod) bool {
	return slices.ContainsFunc(p.parts(), func(p part) bool { return a.setBy[p] == third && (a.unproven[p] || !adopted(pod, p)) })
}

// adopted tells whether the pod says that the amount that it has was adopted.
func adopted(pod *corev1.Pod, p part) bool {
	text, ok := p.which.AdoptedIn(pod.Annotations, p.container)
	return ok && amountIn(text, p) == amountsOf(pod)[p]
}

// amountIn reads an annotation; -1 is what no part has.
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

// see takes note of the next state of the pod, and returns what is wrong with it. theirs
// tells that it was not the reconciler who wrote it.
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
		wrong = append(wrong, "the QoS class changes")
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
			// A restore gives back what is as its author wrote it to him.
			givenBack := a.setBy[p] == author && now[p] == a.originals[p] && !marked(pod)
			if before[p] == now[p] && was[p] == third && a.setBy[p] != third && a.setBy[p] != nobodyKnows && !givenBack {
				wrong = append(wrong, fmt.Sprintf("%v was another's, and is not any more", p))
			}
		}
	}
	a.last = pod
	return wrong
}

// checkRecord tells whether the originals in annotations may be as the reconciler wrote
// them: they are right, adopted of what another set, or removed because the pod has
// all of them.
func (a *account) checkRecord(pod *corev1.Pod, was map[part]setter, rules []rule) (wrong []string) {
	removed, fresh := false, map[part]bool{}
	for p := range a.originals {
		before, had := p.which.In(a.last.Annotations, p.container)
		text, has := p.which.In(pod.Annotations, p.container)
		removed = removed || had && !has
		noted, _ := p.which.AdoptedIn(pod.Annotations, p.container)
		if notedBefore, _ := p.which.AdoptedIn(a.last.Annotations, p.container); has && was[p] == third && noted != notedBefore && adopted(pod, p) {
			fresh[p] = true // As what its original comes to, perhaps.
		}
		if !has || text == before {
			continue
		}
		if to := amountIn(text, p); was[p] == third && mayDo(rules, plan.AdoptExternal) {
			a.originals[p], fresh[p] = to, true
		} else if to != a.originals[p] {
			wrong = append(wrong, fmt.Sprintf("the original of %v becomes %s, and is %d", p, text, a.originals[p]))
		}
	}
	for p := range pairsOf(pod) {
		if slices.ContainsFunc(p.parts(), func(p part) bool { return fresh[p] }) {
			wrong = append(wrong, a.checkAdoption(p, pod, fresh, rules)...)
		}
	}
	if removed && (!maps.Equal(a.originals, amountsOf(pod)) || len(ours(pod)) > 0) {
		wrong = append(wrong, fmt.Sprintf("originals are removed: left are %v, the originals are %v", ours(pod), a.originals))
	}
	return wrong
}

// checkAdoption tells whether the original of what was just adopted comes to what the
// other had set, and notes by which rules it does.
func (a *account) checkAdoption(p pair, pod *corev1.Pod, fresh map[part]bool, rules []rule) (wrong []string) {
	original := a.original(p)
	by := slices.DeleteFunc(slices.Clone(rules), func(r rule) bool {
		return r.external != plan.AdoptExternal || !r.comesTo(original, p, fresh, pod.Spec.NodeName)
	})
	// Where he set one of two, its original cannot pass that of the other, and what is
	// equal stays so.
	if met := original.Limit == original.Request; len(by) == 0 && !met {
		wrong = append(wrong, fmt.Sprintf("%s %s, which is %v, is adopted with originals %v", p.container.Name, p.resource, p.now(), original))
	}
	for _, p := range p.parts() {
		if fresh[p] {
			a.adopted[p] = by
		}
	}
	return wrong
}

// checkSizes tells whether the reconciler may have given the pod its sizes.
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
		// A limit that came after its original would have been recorded stays.
		stays := !recorded && a.setBy[limit] == nobodyKnows && !slices.Contains(changed, limit)
		fits := func(r rule) bool {
			want := r.want(original, p, pod.Spec.NodeName)
			return stays && p.now().Request == want.Request || asAdopted(p, original, want, kept) || len(kept) > 0 && (kept[p.request()] || kept[p.limit()]) && p.near(want)
		}
		if p.now() != original && !slices.ContainsFunc(rules, fits) {
			wrong = append(wrong, fmt.Sprintf("%s %s becomes %v, which nothing gives: the original is %v", p.container.Name, p.resource, p.now(), original))
		}
		if restarts(p.container, p.resource) {
			wrong = append(wrong, fmt.Sprintf("%s %s changes, which restarts the container", p.container.Name, p.resource))
		}
		for _, q := range p.parts() {
			same := map[part]bool{q: true}
			// What is adopted as what it is already leaves the original as it was.
			unseen := slices.ContainsFunc(rules, func(r rule) bool {
				return r.external == plan.AdoptExternal && r.comesTo(original, p.in(a.last), same, pod.Spec.NodeName)
			})
			if was[q] == third && !lapsed[q] && !a.adopts(q) && !unseen && !mayDo(rules, plan.OverrideExternal) {
				wrong = append(wrong, fmt.Sprintf("%v was set by another, and %s changes from %v", q, p.resource, before))
			}
		}
		for _, q := range changed {
			moved := slices.ContainsFunc(rules, func(r rule) bool { return !a.adoptedBy(q, r) || !r.holds(p, before[p.request()]) })
			// One who overrides goes by the originals, though it was not recorded yet that they were adopted.
			overridden := mayDo(rules, plan.OverrideExternal)
			if a.adopts(q) && was[q] == third && !moved && !overridden && p.now() != original {
				wrong = append(wrong, fmt.Sprintf("%v was adopted as %d, and becomes %d though nothing has changed", q, before[q], now[q]))
			}
			delete(a.adopted, q)
		}
	}
	return wrong
}

// asAdopted tells whether a resource is as wanted but for what is kept of it because it
// was adopted, and what that does to a limit beside it, which goes with the factor alone:
// the original of the request was rounded.
func asAdopted(p pair, original, want oracle.Amount, kept map[part]bool) bool {
	now, unit := p.now(), int64(1)
	if p.resource == corev1.ResourceMemory {
		unit = oracle.Mebibyte
	}
	beside := (2*distance(now.Request, want.Request) + unit) * ceiling(big.NewRat(max(want.Limit, 1), original.Request))
	return (kept[p.request()] || now.Request == want.Request) &&
		(kept[p.limit()] || now.Limit == want.Limit || kept[p.request()] && distance(now.Limit, want.Limit) <= beside)
}

func (a *account) adopts(p part) bool { return a.adopted[p] != nil }

// adoptedBy tells whether a part was adopted by ratios that are those of a rule.
func (a *account) adoptedBy(p part, r rule) bool {
	return slices.ContainsFunc(a.adopted[p], func(by rule) bool { return by.table == r.table && maps.Equal(by.nodeTypes, r.nodeTypes) })
}

// mayDo tells whether a process may have been told to do so with others' resizes.
func mayDo(rules []rule, external plan.External) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.external == external })
}

// findSetters finds who set each part, by the API server's record.
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
			// Whoever shares it with others is not the one who counts.
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

// ours are the annotations of the contract.
func ours(pod *corev1.Pod) map[string]string {
	all := maps.Clone(pod.Annotations)
	maps.DeleteFunc(all, func(key, _ string) bool { return !strings.HasPrefix(key, contract.Prefix) })
	return all
}

// guaranteed tells whether each container has limits that are its requests.
func guaranteed(pod *corev1.Pod) bool {
	for p := range pairsOf(pod) {
		if now := p.now(); now.Request == 0 || now.Request != now.Limit {
			return false
		}
	}
	return true
}
