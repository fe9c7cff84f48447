package query

import "github.com/workload-resizer/workload-resizer/ratios/nodetype"

// Sizes returns, by node type without its CPU model and by number of vCPUs, the vCPUs in the nodes
// of this size. It is empty while there are no ratios.
func (q *Queries) Sizes() map[string]map[int]float64 {
	sizes := map[string]map[int]float64{}
	table, err := q.Cluster.Ratios.Ready()
	if err != nil {
		return sizes
	}
	for _, n := range q.Cluster.Nodes() {
		m, _ := q.Planner.NodeTypes.Resolve(n.Labels, table.Knows)
		nodeType, _ := nodetype.SplitModel(m.NodeType)
		vcpus := int(n.Status.Capacity.Cpu().Value())
		if nodeType == "" || vcpus == 0 {
			continue
		}
		if sizes[nodeType] == nil {
			sizes[nodeType] = map[int]float64{}
		}
		sizes[nodeType][vcpus] += float64(vcpus)
	}
	return sizes
}
