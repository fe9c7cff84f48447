package values

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Shared returns how a demand follows that neighbors share.
func Shared(m *sizing.Measure, of need.Shared) *workloadresizerv1.SharedDemand {
	return &workloadresizerv1.SharedDemand{Steady: m.Text(of.Steady), Peak: m.Text(of.Peak), Share: of.Share, Unshared: m.Text(of.Unshared)}
}

// NodeShare returns what a node has of a resource, and what its pods request and share of it; of is nil if they share nothing.
func NodeShare(m *sizing.Measure, has, free int64, of *headroom.Share) *workloadresizerv1.NodeShare {
	all := &workloadresizerv1.NodeShare{Allocatable: m.Text(has), Requested: m.Text(has - free)}
	if of == nil {
		return all
	}
	all.Steady, all.Rest, all.Reserve, all.Share = m.Text(of.Steady[m.Index]), m.Text(of.Rests[m.Index]), m.Text(of.Reserve[m.Index]), of.Of[m.Index]
	if lacks := of.Lacks()[m.Index]; lacks > 0 {
		all.Lacks = m.Text(lacks)
	}
	return all
}
