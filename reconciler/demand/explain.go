package demand

import (
	"context"
	"slices"

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
// need no pods if there is a history: of the workload, or of those that its pods count for. Sums are over
// the pods of the workload. It returns nothing for a workload that is not known. The recommendations are of
// now, not the published ones, so that they follow from the steps. The error comes from ctx.
func (d *Demands) Explain(ctx context.Context, of usage.Workload) ([]Explained, error) {
	workloads := map[usage.Workload]bool{of: true}
	for _, w := range d.PodsOf(of).CountFor {
		workloads[w] = true
	}
	s, published, now := d.survey.Load(), d.Table(), d.Clock.Now()
	found := map[usage.Key]usage.Explanation{}
	for _, c := range d.store.Containers() {
		if s.table == nil || !workloads[ownerOf(c)] {
			continue
		}
		for _, set := range s.ratios(c, d.store.Ratios(c)) {
			if explanation, ok := d.store.Explain(c, set, now); ok {
				found[usage.Key{Container: c, Ratios: set.Name}] = explanation
			}
		}
	}
	need := func(key usage.Key) (recommend.Recommendation, bool) {
		if explanation, ok := found[key]; ok {
			return explanation.Recommendation, explanation.Known
		}
		return published.Demand(key)
	}
	items := map[usage.Key]*Item{}
	for item, err := range d.reportNeeds(ctx, Selection{Namespace: of.Namespace, Workloads: []usage.Workload{of}}, need) {
		if err != nil {
			return nil, err
		}
		items[usage.Key{Container: item.Container, Ratios: item.Rule}] = item
	}
	for key := range found {
		if items[key] == nil {
			items[key] = d.newItem(s, key, s.demand(key.Container), need)
			items[key].explainKept(s)
		}
	}
	all := make([]Explained, 0, len(items))
	for key, item := range items {
		all = append(all, Explained{Item: item, Measured: found[key].Measured, Steps: found[key].Steps})
	}
	slices.SortFunc(all, func(a, b Explained) int { return a.compare(b.Item) })
	return all, ctx.Err()
}

// History is what the containers of one name of a workload used on each node type, as measured.
type History struct {
	Container history.Container
	On        []usage.Distribution
}

// Histories returns the histories of the containers of one name of a workload. If the pods of the workload
// count for other workloads, these have the histories. A workload without pods has its own.
func (d *Demands) Histories(of usage.Workload, container string) (found []History) {
	add := func(w usage.Workload) bool {
		c := containerOf(w, container)
		on, known := d.store.Distributions(c, d.Clock.Now())
		if known {
			found = append(found, History{c, on})
		}
		return known
	}
	countFor := d.PodsOf(of).CountFor
	if slices.Contains(countFor, of) && add(of) {
		return found
	}
	for _, w := range countFor {
		if w != of {
			add(w)
		}
	}
	if len(found) == 0 {
		add(of)
	}
	return found
}

// Measured returns the names of the containers of some workloads that have a history, in order.
func (d *Demands) Measured(of ...usage.Workload) (names []string) {
	for _, c := range d.store.Containers() {
		if slices.Contains(of, ownerOf(c)) && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Containers returns how many containers have a history.
func (d *Demands) Containers() int { return d.store.Len() }
