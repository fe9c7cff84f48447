package demand

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/vpa"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// policies are the VerticalPodAutoscalers that say what their targets need, and what the targets are. Its methods work
// on nil, which has none. A tenant may create thousands of them for the same pods, so nothing takes time that grows with
// more than their number.
type policies struct {
	all []*tuned
	on  map[target]*aim
}

// target is what a VerticalPodAutoscaler may name.
type target struct {
	namespace string
	workload.Workload
}

// aim is a target with the VerticalPodAutoscalers that name it.
type aim struct {
	all []*tuned
	// first is the first of their names, and second the next one; empty if there is none. other is the first name of those
	// with other targets and the same pods.
	first, second, other string
	// workloads are what the usage of its pods counts for, and pods reports whether there are any.
	workloads []usage.Workload
	pods      bool
}

// tuned is a VerticalPodAutoscaler with its target.
type tuned struct {
	*vpa.Object
	*aim
	// fault is why it counts for nothing; nil if it counts.
	fault *vpa.Fault
}

// newPolicies returns policies whose targets are not known yet.
func newPolicies(objects []*vpa.Object) *policies {
	if len(objects) == 0 {
		return nil
	}
	slices.SortFunc(objects, func(a, b *vpa.Object) int {
		return cmp.Or(cmp.Compare(a.Namespace(), b.Namespace()), a.Compare(b))
	})
	p := &policies{on: make(map[target]*aim, len(objects))}
	for _, o := range objects {
		to := target{o.Namespace(), o.Target}
		a := p.on[to]
		if a == nil {
			a = &aim{}
			p.on[to] = a
		}
		t := &tuned{o, a, o.Policy.Fault}
		p.all, a.all = append(p.all, t), append(a.all, t)
		switch name := o.Name(); {
		case a.first == "" || name < a.first:
			a.first, a.second = name, a.first
		default:
			a.second = earlierName(a.second, name)
		}
	}
	return p
}

// earlierName returns the name that comes first; an empty one does not count.
func earlierName(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// rival returns the first name of others with the same pods; empty without any.
func (t *tuned) rival() string {
	if t.Name() == t.first {
		return earlierName(t.second, t.other)
	}
	return earlierName(t.first, t.other)
}

// add appends the targets of policies for a pod with these owners, except those that are there already.
func (p *policies) add(to []*aim, namespace string, owners []workload.Workload) []*aim {
	if p == nil {
		return to
	}
	for _, w := range owners {
		if a := p.on[target{namespace, w}]; a != nil && !slices.Contains(to, a) {
			to = append(to, a)
		}
	}
	return to
}

// settle decides which policies count. Of several for the same pods, none does.
func (p *policies) settle(workloads map[usage.Workload]*facts) {
	if p == nil {
		return
	}
	for w, f := range workloads {
		compete(f.aims)
		for _, a := range f.aims {
			a.workloads = append(a.workloads, w)
			a.pods = a.pods || f.pod != nil
		}
	}
	for to, a := range p.on {
		slices.SortFunc(a.workloads, byName)
		if len(a.workloads) == 0 {
			// The target may have a history without having pods.
			a.workloads = append(a.workloads, usage.Workload{Namespace: to.namespace, Kind: to.Kind, Name: to.Name})
		}
	}
	for _, t := range p.all {
		if rival := t.rival(); t.fault == nil && rival != "" {
			t.fault = &vpa.Fault{Reason: vpa.SeveralObjects, Message: fmt.Sprintf(
				"VerticalPodAutoscaler %s names %s and has the same pods: only one may", rival, vpa.Recommender)}
		}
	}
	for _, f := range workloads {
		f.policy, f.names = nil, nil
		if len(f.aims) == 1 && f.aims[0].all[0].fault == nil { // If it had rivals, it would have a fault.
			f.policy = f.aims[0].all[0].Policy
		}
		if f.pod != nil && len(f.aims) > 0 {
			f.names = namesOf(f.pod)
		}
		f.aims, f.pod = nil, nil
	}
}

// compete notes that targets have the same pods.
func compete(same []*aim) {
	if len(same) < 2 {
		return
	}
	first, second := same[0], (*aim)(nil)
	for _, a := range same[1:] {
		switch {
		case a.first < first.first:
			first, second = a, first
		case second == nil || a.first < second.first:
			second = a
		}
	}
	for _, a := range same {
		other := first
		if a == first {
			other = second
		}
		a.other = earlierName(a.other, other.first)
	}
}

// namesOf returns the names of the containers of a pod that keep running.
func namesOf(p *pod.Pod) (names []string) {
	for i := range p.Containers {
		if c := &p.Containers[i]; !c.Init() || c.Sidecar() {
			names = append(names, c.Name())
		}
	}
	return names
}

// follow makes what the author wrote what the resources need that do not follow usage by the policy of their workload, if
// there is one.
func (f *facts) follow(container string, needs *need.Container) {
	if f == nil || f.policy == nil {
		return
	}
	of := f.policy.Of(container)
	for _, m := range sizing.Measures {
		if !of.Follows(m) {
			needs.Forget(m)
		}
	}
}

// over returns the demand of a rule as the policy of the workload changes it for a container, if there is one.
func (f *facts) over(rule *policy.Demand, container string) *policy.Demand {
	if f == nil || f.policy == nil {
		return rule
	}
	return f.policy.Over(rule, container)
}

// options returns the options of a container of a workload.
func (f *facts) options(container string) usage.Options {
	o := optionsOf(f.over(f.demand, container), container, f.guaranteed, f.containers)
	o.Replicas = f.replicas
	if f.policy == nil {
		return o
	}
	of := f.policy.Of(container)
	o.History.OOMBump = cmp.Or(of.OOMBump, o.History.OOMBump)
	o.History.OOMMinBump = cmp.Or(of.OOMMinBump, o.History.OOMMinBump)
	o.Recommend.Updates.QuickKill = cmp.Or(f.policy.QuickKill, o.Recommend.Updates.QuickKill)
	return o
}

// applies reports whether the sizes of the pods of a workload follow usage, given whether they do by their rule.
func (f *facts) applies(byRule bool) bool {
	if f == nil || f.policy == nil {
		return byRule
	}
	return f.policy.Applies()
}

// modes returns the modes of the policies that count, by workload, unless its rules say the same.
func (s *survey) modes() map[usage.Workload]string {
	if s.policies == nil {
		return nil
	}
	all, modes := map[usage.Workload]string{}, s.ruleModes()
	for w, f := range s.workloads {
		if f.policy != nil && slices.ContainsFunc(f.rules, func(rule string) bool { return (modes[rule] == policy.Apply) != f.policy.Applies() }) {
			all[w] = f.policy.Mode
		}
	}
	return all
}

// Status is what a VerticalPodAutoscaler should say about its target.
type Status struct {
	Object *vpa.Object
	Found  vpa.Found
}

// Statuses returns what the VerticalPodAutoscalers should say that name workload-resizer, in order.
func (d *Demands) Statuses() []Status {
	s, demands := d.survey.Load(), d.Table()
	if s.policies == nil {
		return nil
	}
	of := map[usage.Workload][]usage.Key{}
	for _, t := range s.policies.all {
		for _, w := range t.counting() {
			of[w] = nil
		}
	}
	for key := range demands.All() {
		w := ownerOf(key.Container)
		if keys, wanted := of[w]; wanted {
			of[w] = append(keys, key)
		}
	}
	all := make([]Status, 0, len(s.policies.all))
	for _, t := range s.policies.all {
		found := vpa.Found{Fault: t.fault, Pods: t.pods, Baseline: s.table.Baseline}
		d.recommended(s, t, of, demands, &found)
		all = append(all, Status{t.Object, found})
	}
	return all
}

// counting returns the workloads of a policy that counts: only one of those with the same target does.
func (t *tuned) counting() []usage.Workload {
	if t.fault != nil {
		return nil
	}
	return t.workloads
}

// recommended adds what the containers of a target need, by the rule of its newest pod. If the target has several
// workloads, it is the most that one of them needs.
func (d *Demands) recommended(s *survey, t *tuned, of map[usage.Workload][]usage.Key, demands *usage.Table, found *vpa.Found) {
	for _, w := range t.counting() {
		f := s.workloads[w]
		for _, key := range of[w] {
			if f != nil && (key.Ratios != f.rule || f.names != nil && !slices.Contains(f.names, key.Name)) {
				continue
			}
			r, _ := demands.Demand(key)
			r, _, _ = d.as(s, key, r)
			one, any := t.Policy.Only(vpa.Recommended{
				Name: key.Name, Target: byMeasure(r.Target), Lower: byMeasure(r.Lower), Upper: byMeasure(r.Upper), Uncapped: byMeasure(r.Uncapped),
			})
			if any {
				found.Add(one)
			}
		}
		if f != nil {
			found.Baseline = s.profile(f.rule).Baseline
		}
	}
}

func byMeasure(a recommend.Amounts) (of vpa.Amounts) {
	of[sizing.CPU.Index], of[sizing.Memory.Index] = a.CPU, a.Memory
	return of
}
