package demand

import (
	"context"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Explained is an item, and how its recommendation follows from the history. Without a history, it has only
// the item.
type Explained struct {
	*Item
	// Measured has what was measured on each node type, and Steps lead from this to the target.
	Measured []usage.Measured
	Steps    []recommend.Step
}

// Explain returns what the containers of a workload need, and why, ordered by container and rule. They
// need no pods if there is a history. It returns nothing for a workload that is not known. The error
// comes from ctx.
func (d *Demands) Explain(ctx context.Context, namespace string, of safety.Workload) ([]Explained, error) {
	items := map[usage.Key]*Item{}
	workloads := map[usage.Workload]bool{{Namespace: namespace, Kind: of.Kind, Name: of.Name}: true}
	for item, err := range d.Report(ctx, Selection{Namespace: namespace, Workload: of}) {
		if err != nil {
			return nil, err
		}
		items[usage.Key{Container: item.Container, Ratios: item.Rule}] = item
		workloads[workload(item.Container)] = true
	}
	s, demands := d.survey.Load(), d.Table()
	sets := map[usage.Key]usage.Ratios{}
	for _, c := range d.store.Containers() {
		if s.table == nil || !workloads[workload(c)] {
			continue
		}
		for _, set := range s.ratios(c, d.store.Ratios(c)) {
			key := usage.Key{Container: c, Ratios: set.Name}
			if sets[key] = set; items[key] == nil {
				items[key] = newItem(key, s.from(c), s, demands)
			}
		}
	}
	all := make([]Explained, 0, len(items))
	for key, item := range items {
		e := Explained{Item: item}
		if set, ok := sets[key]; ok {
			e.explain(d.store, set, s.options(key.Container).Recommend, d.Clock.Now())
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b Explained) int { return a.compare(b.Item) })
	return all, ctx.Err()
}

// explain adds the steps to the recommendation. The recommendation is then newer than the published one,
// so that the last step is its target.
func (e *Explained) explain(store *usage.Store, set usage.Ratios, o recommend.Options, now time.Time) {
	found, ok := store.Explain(e.Container, set, now)
	if !ok {
		return
	}
	e.Measured, e.Steps = found.Measured, found.Steps
	if e.Known {
		e.Recommendation = found.Recommendation
		e.explainKept(o)
	}
}

// Distributions returns what a container used on each node type, as measured; false without a history.
func (d *Demands) Distributions(c history.Container) ([]usage.Distribution, bool) {
	return d.store.Distributions(c, d.Clock.Now())
}

// Containers returns how many containers have a history.
func (d *Demands) Containers() int { return d.store.Len() }
