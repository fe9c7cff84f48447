package query

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Impact is what another table would mean for the pods that run now.
type Impact struct {
	Total ImpactGroup
	// NodeTypes and Namespaces are those with pods that would change or be
	// vetoed, by name.
	NodeTypes, Namespaces []ImpactGroup
	// Vetoed are the plans of pods that would get other sizes if nothing spoke
	// against it, also of those that get some of them, by namespace and name.
	Vetoed []*plan.Plan
}

// ImpactGroup sums up pods.
type ImpactGroup struct {
	// Name is the node type or namespace; empty for all.
	Name string
	// Pods would get other sizes.
	Pods int
	// CPU is by how many millicores the sum of their requests would change,
	// Memory by how many bytes.
	CPU, Memory int64
	// Vetoed would get others than they do, if nothing spoke against it: also those
	// of Pods that get only some.
	Vetoed int
}

// Impact plans the pods whose sizes another table concerns, with it and with the
// one in force. Pods that are not resized at all, whatever their sizes, are in
// neither count; those that are paused or sized by a VerticalPodAutoscaler are
// vetoed. Those whose nodes are still at their last resize count as if that were
// done. The error is a NotReadyError or that of ctx.
func (q *Queries) Impact(ctx context.Context, table *ratios.Table) (*Impact, error) {
	if err := q.Cluster.Ready(); err != nil {
		return nil, err
	}
	before, _ := q.Cluster.Rules()
	after := cluster.Rules{Table: table, Holds: before.Holds}
	sums := newImpactSums()
	for _, k := range q.Cluster.Pods("").List() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if q.Cluster.Affects(k, before, after) {
			s := q.Cluster.Snapshot(k, before)
			// What a node is at passes by itself, and is there for most pods
			// right after a change.
			s.Settled = true
			planned := q.Planner.Plan(s)
			s.Table = table
			sums.add(planned, q.wouldBe(s))
		}
	}
	return sums.impact(), nil
}

// wouldBe plans a pod. Of one that is left alone for as long as something else
// lasts, the plan tells whether it would get other sizes then. The snapshot is
// not for use after it.
func (q *Queries) wouldBe(s *plan.Snapshot) *plan.Plan {
	p := q.Planner.Plan(s)
	if p.Decision != plan.Skip {
		return p
	}
	switch p.Reasons[0].Code {
	case contract.Paused, contract.ActiveVPA:
		s.Paused, s.VPA = "", ""
		without := q.Planner.Plan(s)
		p.Vetoed = without.Decision == plan.Resize || without.Vetoed
	}
	return p
}

// impactSums adds up an Impact.
type impactSums struct {
	total                 ImpactGroup
	nodeTypes, namespaces map[string]*ImpactGroup
	vetoed                []*plan.Plan
}

func newImpactSums() *impactSums {
	return &impactSums{nodeTypes: map[string]*ImpactGroup{}, namespaces: map[string]*ImpactGroup{}}
}

// add takes the plans of a pod into account, with the table in force and with the
// other one.
func (s *impactSums) add(before, after *plan.Plan) {
	if after.Vetoed {
		s.vetoed = append(s.vetoed, after)
		s.each(after, func(g *ImpactGroup) { g.Vetoed++ })
	}
	if after.Decision != plan.Skip && !sameSizes(before, after) {
		cpu, memory := desiredRequests(after)
		cpuBefore, memoryBefore := desiredRequests(before)
		s.each(after, func(g *ImpactGroup) {
			g.Pods++
			g.CPU += cpu - cpuBefore
			g.Memory += memory - memoryBefore
		})
	}
}

// each calls do for the groups that the pod of the plan belongs to.
func (s *impactSums) each(p *plan.Plan, do func(*ImpactGroup)) {
	do(&s.total)
	do(group(s.nodeTypes, p.NodeType))
	do(group(s.namespaces, p.Pod.Namespace))
}

func group(groups map[string]*ImpactGroup, name string) *ImpactGroup {
	g, ok := groups[name]
	if !ok {
		g = &ImpactGroup{Name: name}
		groups[name] = g
	}
	return g
}

func (s *impactSums) impact() *Impact {
	slices.SortFunc(s.vetoed, func(a, b *plan.Plan) int {
		return cmp.Or(cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name))
	})
	return &Impact{Total: s.total, NodeTypes: byName(s.nodeTypes), Namespaces: byName(s.namespaces), Vetoed: s.vetoed}
}

func byName(groups map[string]*ImpactGroup) []ImpactGroup {
	var ordered []ImpactGroup
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		ordered = append(ordered, *groups[name])
	}
	return ordered
}

// sameSizes tells whether two plans of a pod come to the same sizes.
func sameSizes(a, b *plan.Plan) bool {
	return slices.EqualFunc(a.Containers, b.Containers, func(a, b plan.ContainerPlan) bool { return a.Desired == b.Desired })
}

// desiredRequests are the sums of what the containers should request, in
// millicores and bytes.
func desiredRequests(p *plan.Plan) (cpu, memory int64) {
	for i := range p.Containers {
		cpu += p.Containers[i].Desired.CPU.Request
		memory += p.Containers[i].Desired.Memory.Request
	}
	return cpu, memory
}
