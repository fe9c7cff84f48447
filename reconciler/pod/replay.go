package pod

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Replayed returns an imagined pod as it would be if its i-th container had a different size and these kills. Nobody
// resized it: replays have no record.
func (p *Pod) Replayed(i int, size sizing.Container, kills []Kill) *Pod {
	after := *p
	after.Containers = slices.Clone(p.Containers)
	after.Containers[i].Spec = size
	if kills != nil || p.rare != nil {
		rarely := *p.seldom()
		rarely.kills = kills
		after.rare = &rarely
	}
	return &after
}
