package demand

import (
	"maps"
	"math"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
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

// newShares returns a table of shares without nodes.
func newShares() *headroom.Table {
	rule := headroom.Rule{Reserve: headroom.Independent}
	return headroom.NewTable(headroom.Rules{rule, rule})
}

// shares reports whether the containers of any pod may share.
func (s *survey) shares() bool {
	return slices.ContainsFunc(s.table.Profiles(), func(p *ratios.Profile) bool { return p.Demand.Policy == policy.SharedPolicy })
}

// ShareOf returns what the pods of a node share; nil if nothing is known of it, or nothing is shared.
func (d *Demands) ShareOf(node string) *headroom.Share {
	if p := d.neighbors.published.Load(); p != nil {
		return p.Of(node)
	}
	return nil
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
		n.table, n.planned = newShares(), map[string]shares{}
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
	n, namespaces := &d.neighbors, map[string]cluster.Shared{}
	pods, nodes := make(map[string]bool, len(n.pods)), make(map[string]bool, len(n.nodes))
	for _, of := range d.Cluster.Nodes() {
		nodes[of.Name] = true
		d.tellOf(of, n.table, in, namespaces, func(p *pod.Pod) { pods[string(p.UID)] = true })
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

// tellOf tells a table what is on a node. namespaces has what is shared in those that were seen before.
func (d *Demands) tellOf(n *corev1.Node, t *headroom.Table, in cluster.Rules, namespaces map[string]cluster.Shared, saw func(*pod.Pod)) {
	var free shares
	free[sizing.Memory.Index] = freeMemory
	t.SetNode(n.Name, headroom.Node{Allocatable: amountsOf(node.Allocatable(n)), Free: free})
	for _, p := range d.Cluster.On(n.Name) {
		if p.Finished() {
			continue
		}
		around, known := namespaces[p.Namespace()]
		if !known {
			around = d.Cluster.Shared(p.Namespace())
			namespaces[p.Namespace()] = around
		}
		t.SetPod(string(p.UID), n.Name, d.needsOfNode(d.Cluster.SnapshotIn(around, p, in)))
		saw(p)
	}
}

// assumeShare returns the share that a node would have under a table that is not in effect, and whether it is known.
func (d *Demands) assumeShare(known *assumed, name string) (shares, bool) {
	if found, ok := known.shares.Load(name); ok {
		return found.(shares), true
	}
	in, ready := d.Cluster.Rules()
	of := d.Cluster.NodeNamed(name)
	if !ready || of == nil {
		return shares{}, false
	}
	in.Table = known.table
	t := newShares()
	d.tellOf(of, t, in, map[string]cluster.Shared{}, func(*pod.Pod) {})
	all, _ := t.Publish()
	known.shares.Store(name, all.Of(name).Of)
	return all.Of(name).Of, true
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
