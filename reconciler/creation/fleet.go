package creation

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	schedulingcorev1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// mostTerms is how many terms of a required affinity a pod may have, and mostRules how many tolerations, and requirements with
// their values. All are compared with all nodes, and the API server waits for a second.
const (
	mostTerms = 20
	mostRules = 500
)

// intricate reports whether comparing what a pod says about its nodes with all nodes would take too long.
func intricate(spec *corev1.PodSpec) bool {
	terms, rules := 0, len(spec.Tolerations)+len(spec.NodeSelector)
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil && spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			terms++
			for _, list := range [...][]corev1.NodeSelectorRequirement{term.MatchExpressions, term.MatchFields} {
				for i := range list {
					rules += 1 + len(list[i].Values)
				}
			}
		}
	}
	return terms > mostTerms || rules > mostRules
}

// allowed are the nodes that a pod may run on.
type allowed struct {
	nodes []*corev1.Node
	// kinds has one of those whose labels about their type are the same.
	kinds []*corev1.Node
	// largest is the most of each resource that any of them has.
	largest node.Resources
}

// fleet remembers the nodes that pods may run on, by what these say about them: all pods of a workload say the same. It forgets
// all of them when nodes change. The zero value is ready to use.
type fleet struct {
	mu       sync.Mutex
	revision uint64
	// known has them by a hash: what a pod says is not validated yet, and may be long.
	known map[[sha256.Size]byte]*allowed
}

// mostFleets is how many are remembered, each with a pointer to every node.
const mostFleets = 64

// allowed returns the nodes that a pod may run on, as the scheduler decides it: by the pod's node selector, its required
// affinity and its tolerations, or only the one that it names. It returns none if it would take too long to find them.
func (s *Sizer) allowed(asked *corev1.Pod, on *corev1.Node) *allowed {
	switch {
	case on != nil:
		return s.alike([]*corev1.Node{on})
	case asked.Spec.NodeName != "" || intricate(&asked.Spec):
		return &allowed{} // The node that it names is not known.
	}
	says, err := json.Marshal([...]any{asked.Spec.NodeSelector, asked.Spec.Affinity, asked.Spec.Tolerations})
	if err != nil {
		return s.alike(s.find(asked))
	}
	f, key, revision := &s.fleet, sha256.Sum256(says), s.Cluster.NodesRevision()
	f.mu.Lock()
	if f.revision != revision || len(f.known) >= mostFleets {
		f.revision, f.known = revision, map[[sha256.Size]byte]*allowed{}
	}
	found := f.known[key]
	f.mu.Unlock()
	if found != nil {
		return found
	}
	found = s.alike(s.find(asked))
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.revision == revision && f.known != nil {
		f.known[key] = found
	}
	return found
}

// find returns the nodes that a pod may run on that does not name one.
func (s *Sizer) find(asked *corev1.Pod) (nodes []*corev1.Node) {
	affinity, logger := nodeaffinity.GetRequiredNodeAffinity(asked), klog.Background()
	repels := func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !schedulingcorev1.TolerationsTolerateTaint(logger, asked.Spec.Tolerations, &t, false)
	}
	for _, n := range s.Cluster.Nodes() {
		if n.Spec.Unschedulable && repels(corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}) || slices.ContainsFunc(n.Spec.Taints, repels) {
			continue
		}
		if match, err := affinity.Match(n); err == nil && match {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// alike finds out what the nodes have in common.
func (s *Sizer) alike(nodes []*corev1.Node) *allowed {
	found, seen := &allowed{nodes: nodes}, map[string]bool{}
	labels := s.Planner.NodeTypes.Labels()
	for _, n := range nodes {
		found.largest = found.largest.AtLeast(node.Allocatable(n))
		var kind strings.Builder
		for _, label := range labels {
			kind.WriteString(n.Labels[label] + "\n")
		}
		if !seen[kind.String()] {
			seen[kind.String()], found.kinds = true, append(found.kinds, n)
		}
	}
	return found
}

// slowest returns the slowest type of the nodes; empty if the ratio of none of them is known. Nobody knows what pods need on
// nodes without one: what they need on the baseline is the best guess, as it is for what an author wrote.
func (s *Sizer) slowest(nodes []*corev1.Node, profile *ratios.Profile) (slowest string) {
	var worst *ratios.Entry
	unknown := false
	for _, n := range nodes {
		var entry *ratios.Entry
		match, _ := s.Planner.NodeTypes.Resolve(n.Labels, func(nodeType string) (ok bool) {
			entry, ok = profile.Lookup(nodeType)
			return ok
		})
		switch {
		case entry == nil || entry.Unused != "":
			unknown = true
		case worst == nil || slower(entry, worst) || !slower(worst, entry) && match.NodeType < slowest:
			slowest, worst = match.NodeType, entry
		}
	}
	if baseline, ok := profile.Lookup(profile.Baseline); unknown && worst != nil && ok && slower(baseline, worst) {
		return profile.Baseline
	}
	return slowest
}

// slower reports whether pods need more on the nodes of an entry than on those of another.
func slower(a, b *ratios.Entry) bool {
	if cpu, other := a.CPUFactor.Float64(), b.CPUFactor.Float64(); cpu != other {
		return cpu > other
	}
	return a.MemoryFactor.Float64() > b.MemoryFactor.Float64()
}

// anywhere plans a pod that names neither its node nor the type of it, and whose size follows usage: for the slowest type on
// which it may run, so that it is not too small wherever it lands. It does not get more than its author wrote, nor than it
// needs on the baseline, unless a node has room for that now: it must not stay pending. There is no plan if no node that it
// may run on has a type with a ratio.
func (s *Sizer) anywhere(on *allowed, of *pod.Pod, profile *ratios.Profile, planned func(nodeType string) *plan.Plan) (*plan.Plan, Placement) {
	slowest := s.slowest(on.kinds, profile)
	if slowest == "" {
		return nil, Placement{}
	}
	p := planned(slowest)
	placement := Placement{NodeType: slowest, Why: fmt.Sprintf("%s is the slowest node type that it may run on", slowest)}
	if slowest == profile.Baseline {
		return p, placement
	}
	baseline := planned(profile.Baseline)
	authored, least, most := node.Requests(of), baseline.Requests(of), p.Requests(of)
	for _, m := range sizing.Measures {
		if most.Of(m) > authored.Of(m) && most.Of(m) > least.Of(m) && !s.hasRoom(on.nodes, most) {
			return baseline, Placement{NodeType: profile.Baseline, Why: fmt.Sprintf("no node has room now for what it needs on %s, the slowest node type that it may run on: it gets what it needs on %s, the baseline", slowest, profile.Baseline)}
		}
	}
	return p, placement
}

// hasRoom reports whether any of the nodes has so much room now.
func (s *Sizer) hasRoom(nodes []*corev1.Node, wanted node.Resources) bool {
	for _, n := range nodes {
		if free := s.Cluster.Free(n); free.AtLeast(wanted) == free {
			return true
		}
	}
	return false
}
