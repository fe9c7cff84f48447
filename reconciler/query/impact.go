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

// Impact is the effect that a different table would have on the running pods.
type Impact struct {
	Total ImpactGroup
	// NodeTypes and Namespaces have the groups with pods that would change or be
	// vetoed, by name.
	NodeTypes, Namespaces []ImpactGroup
	// Vetoed has the plans of pods that would get different sizes without a veto,
	// including pods that get only some of them, by namespace and name.
	Vetoed []*plan.Plan
}

// ImpactGroup summarizes a group of pods.
type ImpactGroup struct {
	// Name is the node type or namespace; empty for all pods.
	Name string
	// Pods is the number of pods that would get different sizes.
	Pods int
	// CPU is the change in the sum of their requests in millicores, Memory in bytes.
	CPU, Memory int64
	// Vetoed is the number of pods that would get different sizes without a veto. It
	// includes pods counted in Pods that get only some of these sizes.
	Vetoed int
	// ByUsage is the number of pods counted in Pods of which a size would follow usage.
	ByUsage int
}

// Impact plans the pods that another table affects, with that table and with the table in
// effect. Pods that are never resized, regardless of their sizes, are in neither count.
// Pods that are frozen, paused or sized by a VerticalPodAutoscaler are vetoed. If a node has not
// completed the last resize of a pod, the pod counts as if it had. The error is a
// NotReadyError or comes from ctx.
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
			// A resize in progress completes by itself, and right after a change
			// most pods have one. Pods that wait for canaries are resized in the end.
			s.Settled, s.InTheEnd = true, true
			planned := q.Planner.Plan(s)
			q.Cluster.Assume(s, table)
			sums.add(planned, q.wouldBe(s))
		}
	}
	return sums.impact(), nil
}

// wouldBe plans a pod. If the pod is skipped because of the freeze, a pause or a
// VerticalPodAutoscaler, the plan is marked as vetoed if the pod would be resized or
// vetoed without them. The snapshot must not be used afterward.
func (q *Queries) wouldBe(s *plan.Snapshot) *plan.Plan {
	p := q.Planner.Plan(s)
	if p.Decision != plan.Skip {
		return p
	}
	switch p.Reasons[0].Code {
	case contract.Frozen, contract.Paused, contract.ActiveVPA:
		s.Frozen, s.Paused, s.VPA = nil, nil, nil
		without := q.Planner.Plan(s)
		would := *p
		// A restore does not depend on the table.
		would.Vetoed = without.Kind != plan.Restore && (without.Decision == plan.Resize || without.Vetoed)
		return &would
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

// add counts the plans of a pod with the table in effect and with the other table.
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
			if followsUsage(after) {
				g.ByUsage++
			}
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

// sameSizes reports whether two plans of a pod have the same desired sizes.
func sameSizes(a, b *plan.Plan) bool {
	return slices.EqualFunc(a.Containers, b.Containers, func(a, b plan.ContainerPlan) bool { return a.Desired == b.Desired })
}

// followsUsage reports whether any size of the pod follows usage.
func followsUsage(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Containers, func(c plan.ContainerPlan) bool {
		return c.Needs[0].Recommended != nil || c.Needs[1].Recommended != nil
	})
}

// desiredRequests returns the sums of the containers' desired requests, in millicores and
// bytes.
func desiredRequests(p *plan.Plan) (cpu, memory int64) {
	for i := range p.Containers {
		cpu += p.Containers[i].Desired.CPU.Request
		memory += p.Containers[i].Desired.Memory.Request
	}
	return cpu, memory
}
