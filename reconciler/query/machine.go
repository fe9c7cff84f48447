package query

import (
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
)

// Machine is what the labels of a node tell of it.
type Machine struct {
	// NodeType is what the node is called by in ratios, without its CPU model, and
	// Label the one that told it; both are empty if none did.
	nodetype.Match
	// Known tells whether the table names the node type.
	Known bool
	// CPUModel is empty if no label tells it.
	CPUModel string
}

// Machine returns what is known of a node; false if there is none of the name. The
// error is a NotReadyError.
func (q *Queries) Machine(node string) (Machine, bool, error) {
	if err := q.Cluster.CacheReady(); err != nil {
		return Machine{}, false, err
	}
	table, err := q.Cluster.Ratios.Ready()
	if err != nil {
		return Machine{}, false, &cluster.NotReadyError{What: cluster.RatiosNotReady, Err: err}
	}
	n := q.Cluster.NodeNamed(node)
	if n == nil {
		return Machine{}, false, nil
	}
	var m Machine
	m.CPUModel, _ = nodetype.Model(n.Labels)
	m.Match, m.Known = q.Planner.NodeTypes.Resolve(n.Labels, table.Knows)
	m.NodeType, _ = nodetype.SplitModel(m.NodeType)
	return m, true, nil
}
