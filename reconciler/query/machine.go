package query

import (
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
)

// Machine is the machine of a node according to its labels.
type Machine struct {
	// NodeType is the node's type as ratios name it, without its CPU model, and Label
	// is the label that determines it; both are empty if no label does.
	nodetype.Match
	// Known reports whether the table has the node type.
	Known bool
	// CPUModel is empty if no label has it.
	CPUModel string
	// Created is when the node joined the cluster.
	Created time.Time
}

// Machine returns the machine of a node; false if there is no such node. The error is a
// NotReadyError.
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
	m := Machine{Created: n.CreationTimestamp.Time}
	m.CPUModel, _ = nodetype.Model(n.Labels)
	m.Match, m.Known = q.Planner.NodeTypes.Resolve(n.Labels, table.Knows)
	m.NodeType, _ = nodetype.SplitModel(m.NodeType)
	return m, true, nil
}
