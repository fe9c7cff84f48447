package demand

import (
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

const (
	// freeMemory is the part of the memory of a node that stays free if its pods share memory: unlike CPU, it cannot be
	// divided when all want more.
	freeMemory = 0.1
	// expected is the percentile of the shares of nodes that a pod gets while it is being created: on most nodes, it need not
	// be raised once it runs.
	expected = 0.75
)

// neighbors is what the pods of each node share. Only publish uses it, except for what is published.
type neighbors struct {
	// table is nil while nothing is shared.
	table *headroom.Table
	// pods are those in the table, by UID, and nodes those in it, by name.
	pods, nodes map[string]bool
	// planned has the shares of nodes when their pods were queued last.
	planned map[string]shares
	// published is nil while nothing is shared.
	published atomic.Pointer[published]
}

// shares are which part of their rests containers get, by sizing.Measure.Index.
type shares = [len(sizing.Measures)]float64

// published are the shares of nodes, and those that pods can expect on nodes of a type. They do not change.
type published struct {
	*headroom.Shares
	expected map[string]shares
	anywhere shares
}

// of returns which part of their rests the containers of a pod get on a node, or on nodes of a type, unless that is empty. If
// there are none of the type, others tell what to expect.
func (p *published) of(node, nodeType string) (of shares, known bool) {
	if p == nil {
		return of, false
	}
	if nodeType == "" {
		share := p.Of(node)
		if share == nil {
			return of, false
		}
		return share.Of, true
	}
	if share, known := p.expected[nodeType]; known {
		return share, true
	}
	return p.anywhere, true
}

// shares reports whether the containers of any pod may share.
func (s *survey) shares() bool {
	return slices.ContainsFunc(s.table.Profiles(), func(p *ratios.Profile) bool { return p.Demand.Policy == policy.SharedPolicy })
}

// share publishes what the pods of each node share, and queues the pods on nodes whose shares have moved. Only nodes are
// computed again whose pods have changed, or what these need.
func (d *Demands) share(s *survey) {
	in, known := d.Cluster.Rules()
	n := &d.neighbors
	switch {
	case !known || d.needs.Load() == nil:
		return
	case !s.shares():
		n.table, n.pods, n.nodes, n.planned = nil, nil, nil, nil
		n.published.Store(nil)
		return
	case n.table == nil:
		rule := headroom.Rule{Reserve: headroom.Independent}
		n.table, n.planned = headroom.NewTable(headroom.Rules{rule, rule}), map[string]shares{}
	}
	d.tell(in)
	all, _ := n.table.Publish()
	to := &published{all, map[string]shares{}, all.Percentile(expected, slices.Collect(maps.Keys(n.nodes)))}
	for nodeType, names := range d.byType(in.Table) {
		to.expected[nodeType] = all.Percentile(expected, names)
	}
	n.published.Store(to)
	for name := range n.nodes {
		if share, before := all.Of(name), n.planned[name]; share != nil && !near(before, share.Of) {
			n.planned[name] = share.Of
			for _, p := range d.Cluster.On(name) {
				d.Cluster.Changed(p)
			}
		}
	}
}

// tell tells the table which nodes and pods there are.
func (d *Demands) tell(in cluster.Rules) {
	n, namespaces, free := &d.neighbors, map[string]cluster.Shared{}, shares{}
	free[sizing.Memory.Index] = freeMemory
	pods, nodes := make(map[string]bool, len(n.pods)), make(map[string]bool, len(n.nodes))
	for _, of := range d.Cluster.Nodes() {
		nodes[of.Name] = true
		n.table.SetNode(of.Name, headroom.Node{Allocatable: amountsOf(node.Allocatable(of)), Free: free})
		for _, p := range d.Cluster.On(of.Name) {
			if p.Finished() {
				continue
			}
			around, known := namespaces[p.Namespace()]
			if !known {
				around = d.Cluster.Shared(p.Namespace())
				namespaces[p.Namespace()] = around
			}
			pods[string(p.UID)] = true
			n.table.SetPod(string(p.UID), of.Name, d.needsOfNode(d.Cluster.SnapshotIn(around, p, in)))
		}
	}
	for uid := range n.pods {
		if !pods[uid] {
			n.table.RemovePod(uid)
		}
	}
	for name := range n.nodes {
		if !nodes[name] {
			n.table.RemoveNode(name)
			delete(n.planned, name)
		}
	}
	n.pods, n.nodes = pods, nodes
}

// byType returns the names of the nodes of each type, by the globals.
func (d *Demands) byType(table *ratios.Table) map[string][]string {
	of := map[string][]string{}
	for name := range d.neighbors.nodes {
		rule := d.Planner.RuleBy(table.Profiles()[0], d.Cluster.NodeNamed(name), "")
		of[rule.NodeType] = append(of[rule.NodeType], name)
	}
	return of
}

// near reports whether sizes under both shares differ too little to matter.
func near(a, b shares) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > still {
			return false
		}
	}
	return true
}

// needsOfNode returns what a pod needs of its node.
func (d *Demands) needsOfNode(s *plan.Snapshot) *headroom.Pod {
	containers, others := d.Planner.Parts(s)
	w, _ := d.countsFor(s.Pod, s.Workloads)
	of := &headroom.Pod{Workload: w.Namespace + "/" + w.Kind + "/" + w.Name, Unmanaged: amountsOf(others)}
	for i := range containers {
		of.Containers = append(of.Containers, headroom.Demand{Steady: amountsOf(containers[i].Steady), Peak: amountsOf(containers[i].Peak)})
	}
	return of
}

func amountsOf(r node.Resources) (a headroom.Amounts) {
	for _, m := range sizing.Measures {
		a[m.Index] = r.Of(m)
	}
	return a
}
