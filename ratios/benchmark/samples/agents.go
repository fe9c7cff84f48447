package samples

import (
	"cmp"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// keysPerAgent limits the number of keys for which samples of one node's agent are kept. A node
// agent has about twenty. Without a limit, one bad node could fill a ConfigMap with made-up
// benchmarks and CPU models, until too few samples of other nodes are left for their ratios.
const keysPerAgent = 64

// limitAgents returns the rows without the excess keys of each node. It keeps the keys that the
// node measured last.
func limitAgents(rows []row) []row {
	type node struct{ nodeType, machine string }
	newest := map[node]map[key]time.Time{}
	over := false
	for i := range rows {
		r := &rows[i]
		if r.Source != sample.SourceAgent {
			continue
		}
		of := node{r.NodeType, r.Machine}
		if newest[of] == nil {
			newest[of] = map[key]time.Time{}
		}
		if k := r.key(); r.Time.After(newest[of][k]) {
			newest[of][k] = r.Time
		}
		over = over || len(newest[of]) > keysPerAgent
	}
	if !over {
		return rows
	}
	for _, keys := range newest {
		var order []key
		for k := range keys {
			order = append(order, k)
		}
		slices.SortFunc(order, func(a, b key) int { return cmp.Or(keys[b].Compare(keys[a]), a.compare(b)) })
		for _, k := range order[min(len(order), keysPerAgent):] {
			delete(keys, k)
		}
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		_, kept := newest[node{r.NodeType, r.Machine}][r.key()]
		return r.Source == sample.SourceAgent && !kept
	})
}

func (r *row) key() key { return key{r.NodeType, r.Benchmark, r.Version, r.CPUModel, r.VCPUs, r.Spot} }
