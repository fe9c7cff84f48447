package reconciler

import "github.com/workload-resizer/workload-resizer/ratios/nodetype"

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
func (r *Reconciler) Machine(node string) (Machine, bool, error) {
	if err := r.cacheReady(); err != nil {
		return Machine{}, false, &NotReadyError{CacheNotReady, err}
	}
	table, err := r.Ratios.Ready()
	if err != nil {
		return Machine{}, false, &NotReadyError{RatiosNotReady, err}
	}
	n, err := r.nodes.Get(node)
	if err != nil {
		return Machine{}, false, nil // A lister knows no other error.
	}
	var m Machine
	m.CPUModel, _ = nodetype.Model(n.Labels)
	m.Match, m.Known = r.Planner.NodeTypes.Resolve(n.Labels, table.Knows)
	m.NodeType, _ = nodetype.SplitModel(m.NodeType)
	return m, true, nil
}
