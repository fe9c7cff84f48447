package demand

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/neighbors"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Item is what the containers of one name of a workload request, use and need, under one rule. Sums
// are over the containers of its pods, on the nodes where they run.
type Item struct {
	// Of is the workload of the selection whose pods the item is about; the zero value for all pods.
	Of        usage.Workload
	Container history.Container
	// Rule is the name of the rule; empty for the globals.
	Rule string
	// Demand is where the demand of the pods comes from, and what follows from usage, as configured.
	Demand *policy.Demand
	// Recommendation is what one container needs on the baseline: of a resource that it shares with its neighbors, on average over
	// the pods of the workload. It is the zero value unless Known.
	Recommendation recommend.Recommendation
	Known          bool
	// needs is the same as planners know it, and shares are the means that the target has.
	needs  *need.Container
	shares neighbors.Shares
	// KeepsCPU and KeepsMemory are why requests are not lowered to the target; empty if they may
	// be.
	KeepsCPU, KeepsMemory string
	// Withheld is why a resource is not sized by usage in any mode, by sizing.Measure.Index: a HorizontalPodAutoscaler
	// compares it with usage. It is empty if the resource may be sized.
	Withheld [2]string
	Sums
	// On has the sizes on the types of nodes where the pods run, most pods first.
	On []OnNodeType
	// Bounds limit the requests of the pods, and MostAuthored is the most that the author of one of them wrote.
	Bounds       policy.Bounds
	MostAuthored sizing.Container
	// limited means that a container has a memory limit.
	limited bool
}

// OnNodeType is what one container needs on a type of node.
type OnNodeType struct {
	// NodeType is empty for nodes whose type is not known.
	NodeType string
	Pods     int
	// Size is the mean of the pods, rounded up: what a container needs that shares differs between nodes. It is the zero value
	// unless Known.
	Size  recommend.Amounts
	Known bool
	sum   recommend.Amounts
}

// Sums are sums over containers.
type Sums struct {
	// Pods is the number of pods, and Unknown the number of those without a recommendation, or on a
	// node whose speed is unknown.
	Pods, Unknown int
	// Authored is what the authors of all pods requested, and Current what all pods request now.
	Authored, Current recommend.Amounts
	// Compared is the part of Authored of pods that are not Unknown. Used and Recommended are
	// of these, too. Recommended is what each pod would get on its node. Of a resource that is withheld, it is what is compared.
	Compared, Used, Recommended recommend.Amounts
	// AuthoredCost and RecommendedCost are what Compared and Recommended cost an hour.
	AuthoredCost, RecommendedCost float64
}

// Add adds other sums.
func (s *Sums) Add(o *Sums) {
	s.Pods, s.Unknown = s.Pods+o.Pods, s.Unknown+o.Unknown
	for _, of := range [...]struct{ to, from *recommend.Amounts }{
		{&s.Authored, &o.Authored}, {&s.Current, &o.Current}, {&s.Compared, &o.Compared}, {&s.Used, &o.Used}, {&s.Recommended, &o.Recommended},
	} {
		of.to.CPU, of.to.Memory = plus(of.to.CPU, of.from.CPU), plus(of.to.Memory, of.from.Memory)
	}
	s.AuthoredCost, s.RecommendedCost = s.AuthoredCost+o.AuthoredCost, s.RecommendedCost+o.RecommendedCost
}

// plus returns a sum, which ends at the largest amount: any pod may request 1Ei. That of negative amounts ends at the
// smallest.
func plus(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// Report returns what the workloads of the selected pods request, use and need, ordered by namespace,
// kind, workload, container, rule and selected workload. It is empty while there are no ratios. It looks at
// the pods in a namespace only when it reaches it, and ends with the error of Visible or ctx, if there is one.
func (d *Demands) Report(ctx context.Context, of Selection) iter.Seq2[*Item, error] {
	return d.reportNeeds(ctx, of, d.Table().Demand)
}

// lookup returns what a container needs, and whether this is known.
type lookup func(usage.Key) (recommend.Recommendation, bool)

// reportNeeds is Report, given what containers need.
func (d *Demands) reportNeeds(ctx context.Context, of Selection, need lookup) iter.Seq2[*Item, error] {
	return inNamespaces(ctx, d, &of, func(namespace string, chosen *chosen, table *ratios.Table) []*Item {
		return d.report(namespace, of.Selector, chosen, table, need)
	})
}

// report returns the items of a namespace.
func (d *Demands) report(namespace string, selector labels.Selector, chosen *chosen, table *ratios.Table, need lookup) []*Item {
	type itemKey struct {
		of usage.Workload
		usage.Key
	}
	s := d.survey.Load()
	items := map[itemKey]*Item{}
	var owners []workload.Workload
	var about []usage.Workload
	for _, p := range d.Cluster.Pods(namespace).List() {
		if !runs(p) || selector != nil && !selector.Matches(p.Labels()) {
			continue
		}
		owners = d.Cluster.Owners().Chain(owners[:0], p)
		w, ok := d.countsFor(p, owners)
		if !ok {
			continue
		}
		if about = chosen.of(about[:0], namespace, owners, w); len(about) == 0 {
			continue
		}
		rule, scalers := d.Planner.Rule(p, d.Cluster.Node(p), "", table), d.Cluster.AutoscalersOf(p, owners)
		shares, guaranteed := d.sharesOf(p, s.workloads[w], &rule), p.QOSClass() == corev1.PodQOSGuaranteed
		for i := range p.Containers {
			c := &p.Containers[i]
			if c.Init() && !c.Sidecar() {
				continue
			}
			key := usage.Key{Container: containerOf(w, c.Name()), Ratios: rule.Rule()}
			for _, of := range about {
				item := items[itemKey{of, key}]
				if item == nil {
					item = d.newItem(s, key, s.workloads[w].over(rule.Demand(), c.Name()), need)
					item.Of, items[itemKey{of, key}] = of, item
				}
				item.Bounds = rule.Bounds()
				item.count(c, &rule, shares, guaranteed, plan.Withheld(scalers, c.Name()), table.Prices)
			}
		}
	}
	all := make([]*Item, 0, len(items))
	for _, item := range items {
		item.explainKept(s)
		slices.SortFunc(item.On, func(a, b OnNodeType) int { return cmp.Or(b.Pods-a.Pods, cmp.Compare(a.NodeType, b.NodeType)) })
		all = append(all, item)
	}
	slices.SortFunc(all, (*Item).compare)
	return all
}

func (d *Demands) newItem(s *survey, key usage.Key, demand *policy.Demand, need lookup) *Item {
	item := &Item{Container: key.Container, Rule: key.Ratios, Demand: demand}
	if item.Recommendation, item.Known = need(key); item.Known {
		item.Recommendation, item.needs, item.shares = d.as(s, key, item.Recommendation)
	}
	return item
}

// Shared returns how the target of a resource follows that pods share with their neighbors; false if they do not.
func (i *Item) Shared(m *sizing.Measure) (of need.Shared, shares bool) {
	if !i.Known {
		return of, false
	}
	n := need.Need{Recommended: i.needs.Of(m), Share: i.shares[m.Index]}
	return n.Shared(false)
}

// explainKept sets why requests are not lowered. Without pods, it is not known whether there is a limit.
func (i *Item) explainKept(s *survey) {
	if !i.Known {
		return
	}
	o := s.options(i.Container).Recommend
	i.KeepsCPU = o.KeepsCPU(&i.Recommendation)
	i.KeepsMemory = o.KeepsMemory(&i.Recommendation, o.Limits.Memory == need.Follow && (i.limited || i.Pods == 0))
}

// count counts a container of a pod, given the shares of its node and why its resources are withheld. guaranteed means that the
// class of the pod requires limits equal to requests.
func (i *Item) count(c *pod.Container, rule *plan.Ruling, shares neighbors.Shares, guaranteed bool, withheld [2]string, prices *policy.Prices) {
	for _, m := range sizing.Measures {
		i.Withheld[m.Index] = cmp.Or(i.Withheld[m.Index], withheld[m.Index])
	}
	size := c.Original
	if amounts(size) == (recommend.Amounts{}) {
		size = c.Spec
	}
	authored := amounts(size)
	i.MostAuthored = sizing.Container{CPU: most(i.MostAuthored.CPU, size.CPU), Memory: most(i.MostAuthored.Memory, size.Memory)}
	i.limited = i.limited || size.Memory.Limit > 0
	one := Sums{Pods: 1, Authored: authored, Current: amounts(c.Spec)}
	var fit sizing.Container
	known := i.Known
	if known {
		needs := *i.needs
		for _, m := range sizing.Measures {
			if withheld[m.Index] != "" {
				needs.Forget(m)
			}
		}
		fit, known = rule.Gets(&size, &needs, shares, guaranteed)
	}
	if known {
		used, _ := rule.Use(i.Recommendation.Used.CPU, i.Recommendation.Used.Memory)
		one.Compared, one.Recommended, one.Used = authored, amounts(fit), amounts(used)
		if withheld[sizing.CPU.Index] != "" {
			one.Recommended.CPU = authored.CPU
		}
		if withheld[sizing.Memory.Index] != "" {
			one.Recommended.Memory = authored.Memory
		}
		if prices != nil {
			price := prices.Of(rule.NodeType)
			one.AuthoredCost, one.RecommendedCost = cost(price.CPU, price.Memory, one.Compared), cost(price.CPU, price.Memory, one.Recommended)
		}
	} else {
		one.Unknown = 1
	}
	i.Add(&one)
	at := slices.IndexFunc(i.On, func(on OnNodeType) bool { return on.NodeType == rule.NodeType })
	if at < 0 {
		at, i.On = len(i.On), append(i.On, OnNodeType{NodeType: rule.NodeType, Known: known})
	}
	i.On[at].add(amounts(fit))
}

// add adds the size of a container.
func (o *OnNodeType) add(size recommend.Amounts) {
	o.Pods++
	n := int64(o.Pods)
	o.sum.CPU, o.sum.Memory = plus(o.sum.CPU, size.CPU), plus(o.sum.Memory, size.Memory)
	o.Size = recommend.Amounts{CPU: o.sum.CPU/n + min(1, o.sum.CPU%n), Memory: o.sum.Memory/n + min(1, o.sum.Memory%n)}
}

// most returns the larger request and the larger limit.
func most(a, b sizing.Amount) sizing.Amount {
	return sizing.Amount{Request: max(a.Request, b.Request), Limit: max(a.Limit, b.Limit)}
}

// compare orders items.
func (i *Item) compare(o *Item) int {
	return cmp.Or(i.Container.Compare(o.Container), cmp.Compare(i.Rule, o.Rule), byName(i.Of, o.Of))
}

// amounts returns the requests of a container.
func amounts(c sizing.Container) recommend.Amounts {
	return recommend.Amounts{CPU: c.CPU.Request, Memory: c.Memory.Request}
}

// cost returns what amounts cost an hour, given the prices of a core and of a GiB.
func cost(cpu, memory float64, a recommend.Amounts) float64 {
	return cpu*float64(a.CPU)/1000 + memory*float64(a.Memory)/(1<<30)
}
