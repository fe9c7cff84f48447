package demand

import (
	"sync"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/neighbors"
	"github.com/workload-resizer/workload-resizer/usage"
)

// assumed is what containers need under a table that is not in effect, as far as anyone asked: previews of other ratios
// ask about each pod of a workload.
type assumed struct {
	table *ratios.Table

	mu    sync.Mutex
	needs needs
	// shares has the shares of nodes, by name.
	shares map[string]neighbors.Shares
}

// profileOf is a profile of a table that is not in effect.
type profileOf struct {
	*ratios.Profile
	known *assumed
}

// under returns what is known of a table that is not in effect. Only the last table is remembered, and until the next
// publication.
func (d *Demands) under(table *ratios.Table) *assumed {
	if known := d.assumed.Load(); known != nil && known.table == table {
		return known
	}
	known := &assumed{table: table, needs: needs{}, shares: map[string]neighbors.Shares{}}
	d.assumed.Store(known)
	return known
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
	if r, ok := d.store.Recommend(key.Container, usage.Ratios{Name: by.Name, Speeds: speeds(by.Profile)}, d.Clock.Now()); ok {
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
