package demand

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trend"
)

// Savings is what running pods take of their nodes, compared with what they would take as their authors
// wrote them, and what they use. A pod takes what the scheduler counts, so that an init container that needs
// more than all others hides what these save.
type Savings struct {
	// Pods is the number of pods, and Unknown the number of those whose usage is not known.
	Pods, Unknown int
	// Authored is what all pods would request with their originals, and Requested what they request now.
	Authored, Requested recommend.Amounts
	// Saved is the difference; negative if the pods request more than their authors wrote. It stays right
	// where a sum ends at the largest amount.
	Saved recommend.Amounts
	// Measured is the part of Requested of pods that are not Unknown. Used is of these, too, and so is Recommended: what they would
	// request by what they use. Only Savings and Workloads know that.
	Measured, Used, Recommended recommend.Amounts
	// AuthoredCost, RequestedCost and UsedCost are what these cost an hour.
	AuthoredCost, RequestedCost, UsedCost float64
	// Reverts and Kills are what resizes cost: how often a resource of a container was reverted, and the OOM
	// kills that a resize may have caused. Pods that have finished count, too.
	Reverts, Kills int
}

// Add adds other savings.
func (s *Savings) Add(o *Savings) {
	s.Pods, s.Unknown, s.Reverts, s.Kills = s.Pods+o.Pods, s.Unknown+o.Unknown, s.Reverts+o.Reverts, s.Kills+o.Kills
	for _, of := range [...]struct{ to, from *recommend.Amounts }{
		{&s.Authored, &o.Authored}, {&s.Requested, &o.Requested}, {&s.Saved, &o.Saved}, {&s.Measured, &o.Measured}, {&s.Used, &o.Used}, {&s.Recommended, &o.Recommended},
	} {
		of.to.CPU, of.to.Memory = plus(of.to.CPU, of.from.CPU), plus(of.to.Memory, of.from.Memory)
	}
	s.AuthoredCost, s.RequestedCost, s.UsedCost = s.AuthoredCost+o.AuthoredCost, s.RequestedCost+o.RequestedCost, s.UsedCost+o.UsedCost
}

// Saver is the savings of a workload.
type Saver struct {
	// Workload has only a namespace for pods that count for no workload.
	Workload usage.Workload
	// Members are all selected pods of the workload, also those that take nothing.
	Members []*pod.Pod
	Savings
}

// Savings returns what the selected pods save, by the workload that they count for, ordered by namespace, kind and name.
// The last of each namespace may be of pods that count for no workload. It is empty while there are no ratios. Like
// Report, it looks at the pods in a namespace only when it reaches it, and ends with the error of Visible or ctx.
func (d *Demands) Savings(ctx context.Context, of Selection) iter.Seq2[*Saver, error] {
	need := d.Table().Demand
	return inNamespaces(ctx, d, &of, func(namespace string, chosen *chosen, table *ratios.Table) []*Saver {
		return d.saving(namespace, &of, chosen, table, need)
	})
}

// Workloads is Savings with all workloads that have pods, also those whose pods take nothing.
func (d *Demands) Workloads(ctx context.Context, of Selection) iter.Seq2[*Saver, error] {
	need := d.Table().Demand
	return inNamespaces(ctx, d, &of, func(namespace string, chosen *chosen, table *ratios.Table) []*Saver {
		return d.savers(namespace, &of, chosen, table, need)
	})
}

// Trend is what the pods of a workload, or all pods in a namespace, requested and used in some time.
type Trend struct {
	// Workload has only a namespace in the trend of a namespace.
	Workload usage.Workload
	trend.Sum
}

// Trends returns what the pods in namespaces had between each of some times and the next one, by namespace or by workload: ordered as
// Savings, and then by time. It begins with a workload or a namespace, or with the first one after it. Those whose pods are gone are among
// them; pods that count for no workload are only in their namespaces. It ends with the error of Visible or ctx.
func (d *Demands) Trends(ctx context.Context, of Selection, byWorkload bool, from usage.Workload, times []time.Time) iter.Seq2[*Trend, error] {
	chosen, subjects := of.chosen(), map[string][]trend.Subject{}
	for _, s := range d.store.TrendSubjects() {
		w := workloadOf(s)
		if s.Namespace == "" || of.Namespace != "" && s.Namespace != of.Namespace || (s.Kind != "") != byWorkload || CompareSavers(w, from) < 0 || len(chosen.of(nil, s.Namespace, nil, w)) == 0 {
			continue
		}
		subjects[s.Namespace] = append(subjects[s.Namespace], s)
	}
	return func(yield func(*Trend, error) bool) {
		for some := range slices.Chunk(slices.Sorted(maps.Keys(subjects)), namespacesAtATime) {
			var err error
			if of.Visible != nil {
				some, err = of.Visible(some...)
			}
			if err = cmp.Or(err, ctx.Err()); err != nil {
				yield(nil, err)
				return
			}
			for _, namespace := range some {
				if !d.trends(subjects[namespace], times, func(t *Trend) bool { return yield(t, nil) }) {
					return
				}
			}
		}
	}
}

// namespacesAtATime is for how many namespaces Visible is asked at a time.
const namespacesAtATime = 64

// Whole returns what the whole cluster had between each of some times and the next one, or a namespace if it is not empty.
func (d *Demands) Whole(namespace string, times []time.Time) (all []*Trend) {
	d.trends([]trend.Subject{{Namespace: namespace}}, times, func(t *Trend) bool {
		all = append(all, t)
		return true
	})
	return all
}

// trends yields the trends of subjects. It reports whether yield has returned true for all.
func (d *Demands) trends(of []trend.Subject, times []time.Time, yield func(*Trend) bool) (all bool) {
	all = true
	d.store.Trends(of, times, d.Clock.Now(), func(s trend.Subject, sums []trend.Sum) bool {
		for _, sum := range sums {
			if all = yield(&Trend{workloadOf(s), sum}); !all {
				return false
			}
		}
		return true
	})
	return all
}

func workloadOf(s trend.Subject) usage.Workload {
	return usage.Workload{Namespace: s.Namespace, Kind: s.Kind, Name: s.Name}
}

// On is the Savings of the pods on a node, without what is Recommended.
func (d *Demands) On(node string, table *ratios.Table) (all Savings) {
	need := d.Table().Demand
	var owners []workload.Workload
	for _, p := range d.Cluster.On(node) {
		owners = d.Cluster.Owners().Chain(owners[:0], p)
		w, _ := d.countsFor(p, owners)
		one := d.savingsOf(p, w, table, need)
		all.Add(&one)
	}
	return all
}

// saving returns the savings of a namespace.
func (d *Demands) saving(namespace string, selected *Selection, chosen *chosen, table *ratios.Table, need lookup) []*Saver {
	return slices.DeleteFunc(d.savers(namespace, selected, chosen, table, need), func(s *Saver) bool { return s.Pods == 0 && s.Reverts+s.Kills == 0 })
}

// savers returns the workloads in a namespace, and what they save.
func (d *Demands) savers(namespace string, selected *Selection, chosen *chosen, table *ratios.Table, need lookup) []*Saver {
	by := map[usage.Workload]*Saver{}
	var owners []workload.Workload
	var about []usage.Workload
	for _, p := range d.Cluster.Pods(namespace).List() {
		if selected.Selector != nil && !selected.Selector.Matches(p.Labels()) {
			continue
		}
		owners = d.Cluster.Owners().Chain(owners[:0], p)
		w, counts := d.countsFor(p, owners)
		if about = chosen.of(about[:0], namespace, owners, w); len(about) == 0 {
			continue
		}
		one := d.savingsOf(p, w, table, need)
		if one.Pods > one.Unknown {
			one.Recommended = d.recommendedOf(p, w, owners, table, need)
		}
		if !counts {
			w = usage.Workload{Namespace: namespace}
		}
		to := by[w]
		if to == nil {
			to = &Saver{Workload: w}
			by[w] = to
		}
		to.Members = append(to.Members, p)
		to.Add(&one)
	}
	all := make([]*Saver, 0, len(by))
	for _, saver := range by {
		all = append(all, saver)
	}
	slices.SortFunc(all, func(a, b *Saver) int { return CompareSavers(a.Workload, b.Workload) })
	return all
}

// CompareSavers orders workloads as Savings does.
func CompareSavers(a, b usage.Workload) int {
	if a.Namespace == b.Namespace && (a.Kind == "") != (b.Kind == "") {
		return cmp.Compare(b.Kind, a.Kind)
	}
	return byName(a, b)
}

// savingsOf returns the savings of one pod, given the workload that it counts for.
func (d *Demands) savingsOf(p *pod.Pod, w usage.Workload, table *ratios.Table, need lookup) (one Savings) {
	one.Reverts = guard.RevertsOf(p)
	for i := range p.Kills() {
		if guard.MayHaveKilled(p, &p.Kills()[i]) {
			one.Kills++
		}
	}
	on := d.Cluster.Node(p)
	if !runs(p) || on == nil {
		return one
	}
	one.Pods = 1
	one.Authored, one.Requested = recommend.Amounts(node.RequestsAs(p, authoredOf)), recommend.Amounts(node.Requests(p))
	one.Saved = recommend.Amounts{CPU: one.Authored.CPU - one.Requested.CPU, Memory: one.Authored.Memory - one.Requested.Memory}
	rule := d.Planner.Rule(p, on, "", table)
	if used, known := useOf(p, w, &rule, need); known {
		one.Measured, one.Used = one.Requested, used
	} else {
		one.Unknown = 1
	}
	if table.Prices != nil {
		one.price(table.Prices.Of(rule.NodeType))
	}
	return one
}

// recommendedOf returns what a pod whose usage is known would request by it, as the scheduler counts. A resource that is withheld
// keeps its request.
func (d *Demands) recommendedOf(p *pod.Pod, w usage.Workload, owners []workload.Workload, table *ratios.Table, need lookup) recommend.Amounts {
	rule, scalers, s := d.Planner.Rule(p, d.Cluster.Node(p), "", table), d.Cluster.AutoscalersOf(p, owners), d.survey.Load()
	shares, guaranteed := d.sharesOf(p, s.workloads[w], &rule), p.QOSClass() == corev1.PodQOSGuaranteed
	return recommend.Amounts(node.RequestsAs(p, func(c *pod.Container) sizing.Container {
		as := c.Spec
		key := usage.Key{Container: containerOf(w, c.Name()), Ratios: rule.Rule()}
		r, known := need(key)
		if !known {
			return as
		}
		needs := s.known(key, &r)
		fits, known := rule.Gets(&c.Original, &needs, shares, guaranteed)
		withheld := plan.Withheld(scalers, c.Name())
		if known && withheld[sizing.CPU.Index] == "" {
			as.CPU = fits.CPU
		}
		if known && withheld[sizing.Memory.Index] == "" {
			as.Memory = fits.Memory
		}
		return as
	}))
}

func (s *Savings) price(of policy.Price) {
	s.AuthoredCost, s.RequestedCost, s.UsedCost = cost(of.CPU, of.Memory, s.Authored), cost(of.CPU, of.Memory, s.Requested), cost(of.CPU, of.Memory, s.Used)
}

// authoredOf returns what the author of a container requested. An original that is unknown saves nothing.
func authoredOf(c *pod.Container) sizing.Container {
	return sizing.Container{
		CPU:    sizing.Amount{Request: cmp.Or(c.Original.CPU.Request, c.Spec.CPU.Request)},
		Memory: sizing.Amount{Request: cmp.Or(c.Original.Memory.Request, c.Spec.Memory.Request)},
	}
}

// useOf returns what the containers of a pod use on its node, and whether this is known of all of them, and of both
// resources. Init containers have ended.
func useOf(p *pod.Pod, w usage.Workload, rule *plan.Ruling, need lookup) (used recommend.Amounts, known bool) {
	key := usage.Key{Ratios: rule.Rule()}
	key.Namespace, key.Kind, key.Workload = w.Namespace, w.Kind, w.Name
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.Init() && !c.Sidecar() {
			continue
		}
		key.Name = c.Name()
		r, ok := need(key)
		if !ok || r.MemoryKnown == (recommend.Known{}) {
			return recommend.Amounts{}, false
		}
		on, ok := rule.Use(r.Used.CPU, r.Used.Memory)
		if !ok {
			return recommend.Amounts{}, false
		}
		used.CPU, used.Memory = plus(used.CPU, on.CPU.Request), plus(used.Memory, on.Memory.Request)
	}
	return used, true
}
