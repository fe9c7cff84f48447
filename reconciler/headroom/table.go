package headroom

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// FreeMemory is the part of the memory of a node that stays free if its pods share memory: unlike CPU, it cannot be divided
// when all want more.
const FreeMemory = 0.1

// Node is what a node has.
type Node struct {
	// Allocatable is what it has for pods.
	Allocatable Amounts
	// Free is the part of it, from 0 to 1, that its pods are not to get of a resource that they share.
	Free [len(sizing.Measures)]float64
}

// Pod is a pod on a node.
type Pod struct {
	// Workload is what the pod is a replica of.
	Workload string
	// Containers are the managed ones.
	Containers []Demand
	// Unmanaged is what others of its containers request, or the whole pod if it is not managed.
	Unmanaged Amounts
}

// equal reports whether both pods are alike.
func (p *Pod) equal(q *Pod) bool {
	return p.Workload == q.Workload && p.Unmanaged == q.Unmanaged && slices.Equal(p.Containers, q.Containers)
}

// Share is what the pods of a node share. It does not change.
type Share struct {
	// Has is what the node has for managed containers, and Available the part of it that they are to get. Both are negative if
	// others request more than the node has.
	Has, Available Amounts
	// Steady is the sum of the steady demands of the managed containers, Rests that of their rests, and Reserve how much of
	// the rests is kept. Uses is the sum of what the containers use now.
	Steady, Rests, Reserve, Uses Amounts
	// Of is the share of its rest that each container gets, from 0 to 1: 0 if there are no rests.
	Of [len(sizing.Measures)]float64
}

// Lacks returns how much the node lacks for the steady demands and the reserve; 0 if it lacks nothing.
func (s *Share) Lacks() (lacks Amounts) {
	for i := range lacks {
		lacks[i] = max(0, s.Steady[i]+s.Reserve[i]-s.Available[i])
	}
	return lacks
}

// Over returns by how much what the containers use of a resource exceeds what the node has for them; 0 if it does not.
func (s *Share) Over(m *sizing.Measure) int64 { return max(0, s.Uses[m.Index]-s.Has[m.Index]) }

// Shares are the shares of all nodes. They do not change.
type Shares struct{ nodes map[string]*Share }

// Of returns the share of a node; nil if the node is not known.
func (s *Shares) Of(node string) *Share { return s.nodes[node] }

// Expected returns the share of each resource that a pod can expect which will run on one of some nodes. Nodes without
// rests do not count.
func (s *Shares) Expected(nodes []string) (share [len(sizing.Measures)]float64) {
	for i := range share {
		var all []float64
		for _, name := range nodes {
			if of := s.nodes[name]; of != nil && of.Rests[i] > 0 {
				all = append(all, of.Of[i])
			}
		}
		share[i] = Expected(all)
	}
	return share
}

// Expected returns the share that a pod can expect on one of some nodes with these shares, which it sorts. Three quarters of
// the nodes have no higher share, so that it rarely must be raised once the pod runs. It is 1 if there are no nodes, so that
// the pod gets its peak.
func Expected(shares []float64) float64 {
	if len(shares) == 0 {
		return 1
	}
	slices.Sort(shares)
	return shares[len(shares)*3/4]
}

// Table knows pods and nodes, and publishes their shares. All methods are safe for concurrent use.
type Table struct {
	mu      sync.Mutex
	rules   Rules
	nodes   map[string]*state
	pods    map[string]string
	changed map[string]bool
	// shares were published last.
	shares *Shares
}

// state is a node with its pods, by UID. known means that the node itself is known, not only its pods.
type state struct {
	Node
	known bool
	pods  map[string]*Pod
}

// NewTable returns a table without nodes.
func NewTable(rules Rules) *Table {
	return &Table{rules: rules, nodes: map[string]*state{}, pods: map[string]string{}, changed: map[string]bool{}, shares: &Shares{}}
}

// SetNode records what a node has.
func (t *Table) SetNode(name string, n Node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.node(name)
	if of.known && of.Node == n {
		return
	}
	of.Node, of.known = n, true
	t.changed[name] = true
}

// RemoveNode records that a node is gone.
func (t *Table) RemoveNode(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of := t.nodes[name]; of != nil {
		of.Node, of.known = Node{}, false
		t.change(name, of)
	}
}

// SetPod records a pod, which must not change, on a node. Without a node, it is gone.
func (t *Table) SetPod(uid, node string, p *Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before := t.pods[uid]; before != node {
		t.remove(uid)
	}
	if node == "" {
		return
	}
	of := t.node(node)
	if before := of.pods[uid]; before != nil && before.equal(p) {
		return
	}
	of.pods[uid], t.pods[uid] = p, node
	t.changed[node] = true
}

// RemovePod records that a pod is gone.
func (t *Table) RemovePod(uid string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(uid)
}

func (t *Table) remove(uid string) {
	name, known := t.pods[uid]
	if !known {
		return
	}
	of := t.nodes[name]
	delete(t.pods, uid)
	delete(of.pods, uid)
	t.change(name, of)
}

// node returns the state of a node.
func (t *Table) node(name string) *state {
	of := t.nodes[name]
	if of == nil {
		of = &state{pods: map[string]*Pod{}}
		t.nodes[name] = of
	}
	return of
}

// change notes that a node has changed. One that is neither known nor has pods is forgotten.
func (t *Table) change(name string, of *state) {
	t.changed[name] = true
	if !of.known && len(of.pods) == 0 {
		delete(t.nodes, name)
	}
}

// Publish computes the shares of the nodes that have changed, and publishes them. It returns all shares, and the nodes
// whose share is different now, in alphabetical order.
func (t *Table) Publish() (all *Shares, different []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.shares
	fresh := map[string]*Share{}
	for name := range t.changed {
		var share *Share
		if of := t.nodes[name]; of != nil && of.known {
			share = of.share(t.rules)
		}
		if old := before.nodes[name]; share != old && (share == nil || old == nil || *share != *old) {
			fresh[name] = share
		}
	}
	clear(t.changed)
	if len(fresh) == 0 {
		return before, nil
	}
	all = &Shares{maps.Clone(before.nodes)}
	if all.nodes == nil {
		all.nodes = map[string]*Share{}
	}
	for name, share := range fresh {
		different = append(different, name)
		if all.nodes[name] = share; share == nil {
			delete(all.nodes, name)
		}
	}
	t.shares = all
	slices.SortFunc(different, strings.Compare)
	return all, different
}

// share computes the share of a node. It adds up pods in the order of their UIDs, so that every replica gets the same.
func (n *state) share(rules Rules) *Share {
	var sum Sum
	var unmanaged Amounts
	for _, uid := range slices.Sorted(maps.Keys(n.pods)) {
		p := n.pods[uid]
		sum.Add(p.Workload, p.Containers...)
		unmanaged = unmanaged.plus(Amounts{max(0, p.Unmanaged[0]), max(0, p.Unmanaged[1])})
	}
	s := &Share{Steady: sum.Steady, Rests: sum.Rests, Uses: sum.Uses, Reserve: rules.Of(&sum), Of: rules.Shares(&sum)}
	for i, has := range n.Allocatable {
		has = max(0, has)
		s.Has[i] = has - unmanaged[i]
		s.Available[i] = s.Has[i]
		if sum.Rests[i] > 0 {
			s.Available[i] -= int64(float64(has) * fraction(n.Free[i]))
		}
	}
	return s
}
