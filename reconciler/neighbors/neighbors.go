package neighbors

import (
	"iter"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// still is by how much a share may move before pods are planned again: sizes that differ by less stay anyway.
const still = 0.02

// Shares are which part of their rests containers get, from 0 to 1, by sizing.Measure.Index.
type Shares = [len(sizing.Measures)]float64

// Config configures Neighbors. All fields must be set unless their comment names a default.
type Config struct {
	Cluster *cluster.Cluster
	Planner *plan.Planner
	// Workload names what the pod of a snapshot is a replica of.
	Workload func(*plan.Snapshot) string
	// Changed receives the nodes whose shares have changed. It must not block. Nil receives none.
	Changed func(node string)
}

// Neighbors knows what the pods of each node share. Publish and Forget must not run at the same time; all other methods are
// safe for concurrent use.
type Neighbors struct {
	Config
	// table is nil while nothing is shared.
	table *headroom.Table
	// pods are those in the table, by UID, and nodes those in it, by name.
	pods, nodes map[string]bool
	// planned has the shares of nodes when their pods were queued last.
	planned map[string]Shares
	// published is nil while nothing is shared.
	published atomic.Pointer[published]
	known     atomic.Bool
}

// published are the shares of nodes, and those that pods can expect on nodes of a type. They do not change.
type published struct {
	*headroom.Shares
	expected map[string]Shares
	anywhere Shares
}

// New returns neighbors that share nothing until Publish.
func New(c Config) *Neighbors { return &Neighbors{Config: c} }

// Of returns what the pods of a node share; nil if nothing is known of it, or nothing is shared.
func (n *Neighbors) Of(node string) *headroom.Share {
	if p := n.published.Load(); p != nil {
		return p.Of(node)
	}
	return nil
}

// Expected returns the share that a pod can expect on nodes of a type, or on any node if there are none of that type; false
// if nothing is shared.
func (n *Neighbors) Expected(nodeType string) (Shares, bool) {
	p := n.published.Load()
	if p == nil {
		return Shares{}, false
	}
	if share, known := p.expected[nodeType]; known {
		return share, true
	}
	return p.anywhere, true
}

// Known reports whether it is known what nodes share, or that they share nothing.
func (n *Neighbors) Known() bool { return n.known.Load() }

// Lacks returns what a node lacks now for what its pods need most of the time and the reserve; zero if it has enough, or shares
// nothing. inUse means that they use more memory than it has: then lacks is by how much, and no CPU, without which nobody is
// killed. Published shares may be a minute old, and a pod may have left since.
func (n *Neighbors) Lacks(name string) (lacks node.Resources, inUse bool) {
	in, known := n.Cluster.Rules()
	if !known || n.published.Load() == nil {
		return lacks, false
	}
	share := n.under(name, in, n.needsNow)
	if share == nil {
		return lacks, false
	}
	if over := share.Over(sizing.Memory); over > 0 {
		return node.Resources{Memory: over}, true
	}
	amounts := share.Lacks()
	return node.Resources{CPU: amounts[sizing.CPU.Index], Memory: amounts[sizing.Memory.Index]}, false
}

// Rest returns which part of its node a pod needs at its peak, or uses now, beyond what it needs most of the time, in
// millionths; 0 if that is not known. If inUse, only what it uses counts. Only resources count that are positive in lacks, or all if
// none is. Of several, it is the largest part.
func (n *Neighbors) Rest(of *pod.Pod, lacks node.Resources, inUse bool) (millionths int64) {
	in, known := n.Cluster.Rules()
	on := n.Cluster.Node(of)
	if !known || on == nil {
		return 0
	}
	has := node.Allocatable(on)
	containers, _ := n.Planner.Parts(n.Cluster.Snapshot(of, in))
	for _, m := range sizing.Measures {
		if lacks != (node.Resources{}) && lacks.Of(m) <= 0 {
			continue
		}
		var rest float64
		for i := range containers {
			c := &containers[i]
			most := max(c.Uses.Of(m), c.Steady.Of(m))
			if !inUse {
				most = max(most, c.Peak.Of(m))
			}
			rest += float64(most - c.Steady.Of(m))
		}
		if all := has.Of(m); all > 0 {
			millionths = max(millionths, int64(1e6*min(rest/float64(all), 1)))
		}
	}
	return millionths
}

// Forget makes all pods share nothing.
func (n *Neighbors) Forget() {
	before := n.nodes
	n.table, n.pods, n.nodes, n.planned = nil, nil, nil, nil
	n.published.Store(nil)
	n.known.Store(true)
	n.tellChanged(maps.Keys(before))
}

// Publish publishes what the pods of each node share, and queues the pods on nodes whose shares have moved. Only nodes are
// computed again whose pods have changed, or what these need.
func (n *Neighbors) Publish(in cluster.Rules) {
	if n.table == nil {
		n.table, n.planned = newTable(), map[string]Shares{}
	}
	n.tell(in)
	all, changed := n.table.Publish()
	to := &published{all, map[string]Shares{}, all.Expected(slices.Collect(maps.Keys(n.nodes)))}
	for nodeType, names := range n.byType(in.Table) {
		to.expected[nodeType] = all.Expected(names)
	}
	n.published.Store(to)
	n.known.Store(true)
	n.tellChanged(slices.Values(changed))
	for name := range n.nodes {
		if share, before := all.Of(name), n.planned[name]; share != nil && !near(before, share.Of) {
			n.planned[name] = share.Of
			for _, p := range n.Cluster.On(name) {
				n.Cluster.Changed(p)
			}
		}
	}
}

// tellChanged says which nodes have changed.
func (n *Neighbors) tellChanged(nodes iter.Seq[string]) {
	if n.Changed == nil {
		return
	}
	for name := range nodes {
		n.Changed(name)
	}
}

// Assume returns what the pods of a node would share under rules that are not in effect; nil if the node is not known.
func (n *Neighbors) Assume(name string, in cluster.Rules) *headroom.Share {
	return n.under(name, in, n.needs)
}

// under computes the share of a node under some rules, for what its pods need; nil if the node is not known.
func (n *Neighbors) under(name string, in cluster.Rules, needs func(*plan.Snapshot) *headroom.Pod) *headroom.Share {
	of := n.Cluster.NodeNamed(name)
	if of == nil {
		return nil
	}
	t := newTable()
	n.tellOf(of, t, in, map[string]cluster.Shared{}, needs)
	all, _ := t.Publish()
	return all.Of(name)
}

// newTable returns a table of shares without nodes.
func newTable() *headroom.Table {
	rule := headroom.Rule{Reserve: headroom.Independent}
	return headroom.NewTable(headroom.Rules{rule, rule})
}

// tell tells the table which nodes and pods there are.
func (n *Neighbors) tell(in cluster.Rules) {
	namespaces := map[string]cluster.Shared{}
	pods, nodes := make(map[string]bool, len(n.pods)), make(map[string]bool, len(n.nodes))
	for _, of := range n.Cluster.Nodes() {
		nodes[of.Name] = true
		n.tellOf(of, n.table, in, namespaces, func(s *plan.Snapshot) *headroom.Pod {
			pods[string(s.Pod.UID)] = true
			return n.needs(s)
		})
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

// tellOf tells a table what is on a node, and what the pods there need. namespaces has what the pods of namespaces share that
// were seen before.
func (n *Neighbors) tellOf(of *corev1.Node, t *headroom.Table, in cluster.Rules, namespaces map[string]cluster.Shared, needs func(*plan.Snapshot) *headroom.Pod) {
	var free Shares
	free[sizing.Memory.Index] = headroom.FreeMemory
	t.SetNode(of.Name, headroom.Node{Allocatable: amountsOf(node.Allocatable(of)), Free: free})
	for _, p := range n.Cluster.On(of.Name) {
		if p.Finished() || !p.Accepted() { // Nobody moves because of a pod that its node has not accepted.
			continue
		}
		around, known := namespaces[p.Namespace()]
		if !known {
			around = n.Cluster.Shared(p.Namespace())
			namespaces[p.Namespace()] = around
		}
		t.SetPod(string(p.UID), of.Name, needs(n.Cluster.SnapshotIn(around, p, in)))
	}
}

// needsNow returns what a pod needs of its node, and what it uses of it now.
func (n *Neighbors) needsNow(s *plan.Snapshot) *headroom.Pod {
	containers, others := n.Planner.Parts(s)
	of := &headroom.Pod{Unmanaged: amountsOf(others)}
	if len(containers) > 0 {
		of.Workload = n.Workload(s)
	}
	for i := range containers {
		c := &containers[i]
		of.Containers = append(of.Containers, headroom.Demand{Steady: amountsOf(c.Steady), Peak: amountsOf(c.Peak), Uses: amountsOf(c.Uses)})
	}
	return of
}

// needs returns what a pod needs of its node, whatever it uses: a share does not move with each sample.
func (n *Neighbors) needs(s *plan.Snapshot) *headroom.Pod {
	of := n.needsNow(s)
	for i := range of.Containers {
		of.Containers[i].Uses = headroom.Amounts{}
	}
	return of
}

// byType returns the names of the nodes of each type, by the globals.
func (n *Neighbors) byType(table *ratios.Table) map[string][]string {
	of := map[string][]string{}
	for name := range n.nodes {
		rule := n.Planner.RuleBy(table.Profiles()[0], n.Cluster.NodeNamed(name), "")
		of[rule.NodeType] = append(of[rule.NodeType], name)
	}
	return of
}

// near reports whether sizes under both shares differ too little to matter.
func near(a, b Shares) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > still {
			return false
		}
	}
	return true
}

func amountsOf(r node.Resources) (a headroom.Amounts) {
	for _, m := range sizing.Measures {
		a[m.Index] = r.Of(m)
	}
	return a
}
