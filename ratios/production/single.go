package production

import (
	"cmp"
	"math"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// MostUnlike is how many workloads of each node type are kept that differ from the cluster. It is more than are shown: some may be gone,
// and nobody sees those of other namespaces than their own.
const MostUnlike = 20

// Single is the ratio for a single workload.
type Single struct {
	// Key is the one of the workload in the evidence, which knows no names.
	Key evidence.Key `json:"key,string"`
	Interval
}

// unlike returns the workloads that differ from the ratio of a node type for the whole cluster, the most important ones first.
func unlike(of *estimate.Result, t *estimate.Type) (all []Single) {
	type candidate struct {
		Single
		matters float64
	}
	var found []candidate
	for i := range of.Workloads {
		w := &of.Workloads[i]
		for _, x := range w.Types {
			own := Interval{measured.Significant(x.Ratio.Ratio), measured.Significant(x.Ratio.Low), measured.Significant(x.Ratio.High)}
			if x.NodeType != t.NodeType || !x.Differs || !own.valid() {
				continue
			}
			found = append(found, candidate{Single{w.Key, own}, math.Abs(math.Log(own.Ratio/t.Cluster.Ratio)) * x.Cores})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.matters, a.matters), cmp.Compare(a.Key, b.Key))
	})
	for _, c := range found[:min(len(found), MostUnlike)] {
		all = append(all, c.Single)
	}
	return all
}
