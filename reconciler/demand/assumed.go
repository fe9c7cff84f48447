package demand

import (
	"sync"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// assumed is what containers need under a table that is not in effect, as far as anyone asked: previews of other ratios
// ask about each pod of a workload.
type assumed struct {
	table *ratios.Table
	// of is the table in effect with whose ratios Applied made the table; nil for others.
	of *ratios.Table

	mu    sync.Mutex
	needs needs
	// shares has what the pods of nodes share, by the name of the node.
	shares map[string]*headroom.Share
}

// profileOf is a profile of a table that is not in effect.
type profileOf struct {
	*ratios.Profile
	known *assumed
}

// under returns what is known of a table that is not in effect. Only the last table is remembered, next to the one that
// Applied returns, and until the next publication.
func (d *Demands) under(table *ratios.Table) *assumed {
	for _, known := range [...]*assumed{d.applied.Load(), d.assumed.Load()} {
		if known != nil && known.table == table {
			return known
		}
	}
	known := assume(table)
	d.assumed.Store(known)
	return known
}

func assume(table *ratios.Table) *assumed {
	return &assumed{table: table, needs: needs{}, shares: map[string]*headroom.Share{}}
}

// Applied returns the table in effect as if all rules applied usage; nil if no rule lets pods share. It is the same until the next
// publication.
func (d *Demands) Applied() *ratios.Table {
	in := d.Ratios.Table()
	if in == nil || !anyShares(in) {
		return nil
	}
	if known := d.applied.Load(); known != nil && known.of == in {
		return known.table
	}
	known := assume(in.WithDemandMode(policy.Apply))
	known.of = in
	d.applied.Store(known)
	return known.table
}

// recommend returns what usage shows with the ratios of a profile. Those that are in effect are published.
func (d *Demands) recommend(key usage.Key, by *profileOf) (recommend.Recommendation, bool) {
	if by.known.of != nil {
		return d.Table().Demand(key)
	}
	return d.store.Recommend(key.Container, usage.Ratios{Name: by.Name, Speeds: speeds(by.Profile)}, d.Clock.Now())
}

// assume returns what a container would need if the profile were in effect; nil if that is unknown. History is stored as
// measured, so that it can be read with any ratios.
func (d *Demands) assume(key usage.Key, by *profileOf) *need.Container {
	known := by.known
	known.mu.Lock()
	defer known.mu.Unlock()
	found, ok := known.needs[key]
	if ok {
		return found
	}
	if r, ok := d.recommend(key, by); ok {
		s := d.survey.Load()
		o := s.options(key.Container).Recommend
		needed := o.Need(&r)
		s.workloads[ownerOf(key.Container)].follow(key.Name, &needed)
		revise(&needed)
		found = &needed
	}
	known.needs[key] = found
	return found
}
