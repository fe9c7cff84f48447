package demand

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/neighbors"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Neighbors knows what the pods of each node share.
func (d *Demands) Neighbors() *neighbors.Neighbors { return d.neighbors }

// workloadNamed names the workload of the pod of a snapshot.
func (d *Demands) workloadNamed(s *plan.Snapshot) string {
	w, _ := d.countsFor(s.Pod, s.Workloads)
	return w.Namespace + "/" + w.Kind + "/" + w.Name
}

// share publishes what the pods of each node share if the containers of any may.
func (d *Demands) share(s *survey) {
	in, known := d.Cluster.Rules()
	switch {
	case !slices.ContainsFunc(s.table.Profiles(), func(p *ratios.Profile) bool { return p.Demand.Policy == policy.SharedPolicy }):
		d.neighbors.Forget()
	case known && d.needs.Load() != nil:
		d.neighbors.Publish(in)
	}
}

// Share implements need.Demand.
func (p *podNeeds) Share(nodeType string) (shares [2]float64, known bool) {
	switch {
	case nodeType != "":
		return p.demands.neighbors.Expected(nodeType)
	case p.assumes != nil:
		return p.demands.assumeShare(p.of.Node(), p.assumes.known)
	}
	if share := p.demands.neighbors.Of(p.of.Node()); share != nil {
		return share.Of, true
	}
	return shares, false
}

// assumeShare returns the share that a node would have, and whether it is known.
func (d *Demands) assumeShare(node string, by *assumed) (shares neighbors.Shares, known bool) {
	by.mu.Lock()
	shares, known = by.shares[node]
	by.mu.Unlock()
	if known {
		return shares, true
	}
	in, known := d.Cluster.Rules()
	if !known {
		return shares, false
	}
	in.Table = by.table
	if shares, known = d.neighbors.Assume(node, in); known { // It asks what each pod needs.
		by.mu.Lock()
		defer by.mu.Unlock()
		by.shares[node] = shares
	}
	return shares, known
}
