package demand

import (
	"cmp"
	"context"
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Item is what the containers of one name of a workload request, use and need, under one rule. Sums
// are over the containers of its pods, on the nodes where they run.
type Item struct {
	Container history.Container
	// Rule is the name of the rule; empty for the globals.
	Rule string
	// Recommendation is what one container needs on the baseline. It is the zero value unless
	// Known.
	Recommendation recommend.Recommendation
	Known          bool
	Sums
}

// Sums are sums over containers.
type Sums struct {
	// Pods is the number of pods, and Unknown the number of those without a recommendation, or on a
	// node whose speed is unknown.
	Pods, Unknown int
	// Authored is what the authors of all pods requested, and Current what all pods request now.
	Authored, Current recommend.Amounts
	// Compared is the part of Authored of pods that are not Unknown. Used and Recommended are
	// of these, too.
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
		of.to.CPU, of.to.Memory = of.to.CPU+of.from.CPU, of.to.Memory+of.from.Memory
	}
	s.AuthoredCost, s.RecommendedCost = s.AuthoredCost+o.AuthoredCost, s.RecommendedCost+o.RecommendedCost
}

// Report returns what the workloads of pods request, use and need, ordered by namespace, kind,
// workload, container and rule. It is empty while there are no ratios. The error comes from ctx.
func (d *Demands) Report(ctx context.Context, pods []*pod.Pod) ([]*Item, error) {
	table, demands := d.Ratios.Table(), d.Table()
	if table == nil {
		return nil, nil
	}
	items := map[usage.Key]*Item{}
	for _, p := range pods {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w, ok := d.workloadOf(p)
		if !ok || p.Finished() || p.Node() == "" {
			continue
		}
		rule := d.Planner.Rule(p, d.Cluster.Node(p), "", table)
		for i := range p.Containers {
			c := &p.Containers[i]
			if c.Init() && !c.Sidecar() {
				continue
			}
			key := usage.Key{Container: history.Container{Namespace: w.Namespace, Kind: w.Kind, Workload: w.Name, Name: c.Name()}, Ratios: rule.Rule()}
			item := items[key]
			if item == nil {
				item = &Item{Container: key.Container, Rule: key.Ratios}
				item.Recommendation, item.Known = demands.Demand(key)
				items[key] = item
			}
			authored := amounts(c.Original)
			if authored == (recommend.Amounts{}) {
				authored = amounts(c.Spec)
			}
			one := Sums{Pods: 1, Authored: authored, Current: amounts(c.Spec)}
			target := item.Recommendation.Target
			size, known := rule.Size(target.CPU, target.Memory)
			used, _ := rule.Use(item.Recommendation.Used.CPU, item.Recommendation.Used.Memory)
			if item.Known && known {
				one.Compared, one.Recommended, one.Used = authored, amounts(size), amounts(used)
				if table.Prices != nil {
					price := table.Prices.Of(rule.NodeType)
					one.AuthoredCost, one.RecommendedCost = cost(price.CPU, price.Memory, one.Compared), cost(price.CPU, price.Memory, one.Recommended)
				}
			} else {
				one.Unknown = 1
			}
			item.Add(&one)
		}
	}
	all := make([]*Item, 0, len(items))
	for _, item := range items {
		all = append(all, item)
	}
	slices.SortFunc(all, func(a, b *Item) int { return cmp.Or(a.Container.Compare(b.Container), cmp.Compare(a.Rule, b.Rule)) })
	return all, nil
}

// amounts returns the requests of a container.
func amounts(c sizing.Container) recommend.Amounts {
	return recommend.Amounts{CPU: c.CPU.Request, Memory: c.Memory.Request}
}

// cost returns what amounts cost an hour, given the prices of a core and of a GiB.
func cost(cpu, memory float64, a recommend.Amounts) float64 {
	return cpu*float64(a.CPU)/1000 + memory*float64(a.Memory)/(1<<30)
}
