package plan

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Ruling is the result of the ratio table for a pod on its node.
type Ruling struct {
	nodetype.Match
	profile *ratios.Profile
	// entry is nil if the node is unknown, or if its type has no ratio.
	entry *ratios.Entry
}

// NodeTypesOf returns the node types that have a ratio for the pod, in alphabetical order. The
// caller must not change the slice.
func NodeTypesOf(of *pod.Pod, table *ratios.Table) []string {
	return table.Profile(of).NodeTypes()
}

// Rule returns the ruling of the table for the pod. nodeType overrides the type of the node,
// unless it is empty.
func (p *Planner) Rule(of *pod.Pod, node *corev1.Node, nodeType string, table *ratios.Table) Ruling {
	return p.RuleBy(table.Profile(of), node, nodeType)
}

// RuleBy is like Rule, for the pods of a profile.
func (p *Planner) RuleBy(profile *ratios.Profile, node *corev1.Node, nodeType string) Ruling {
	r := Ruling{profile: profile}
	p.rule(&r, node, nodeType)
	return r
}

// rule completes the ruling of a profile.
func (p *Planner) rule(r *Ruling, node *corev1.Node, nodeType string) {
	known := func(nodeType string) (ok bool) {
		r.entry, ok = r.profile.Lookup(nodeType)
		return ok
	}
	switch {
	case nodeType != "":
		r.NodeType = nodeType
		known(nodeType)
	case node != nil:
		r.Match, _ = p.NodeTypes.Resolve(node.Labels, known)
	}
}

// SizesAs reports whether another ruling gives the same sizes for every pod, at the same times, and
// judges resizes in the same way.
func (r *Ruling) SizesAs(o *Ruling) bool {
	// A pod without a ratio is still reverted, as its guard and within its bounds.
	if r.Match != o.Match || (r.entry == nil) != (o.entry == nil) || !r.profile.GuardsAs(&o.profile.Profile) || r.profile.Bounds != o.profile.Bounds ||
		r.profile.Startup != o.profile.Startup || r.profile.Usage() != o.profile.Usage() {
		return false
	}
	return r.entry == nil || r.entry.Unused == o.entry.Unused && r.entry.CPUFactor == o.entry.CPUFactor && r.entry.MemoryFactor == o.entry.MemoryFactor
}

// Size returns the requests of a container that needs these amounts on the baseline, in millicores
// and bytes, within the bounds. It returns false if the node's type has no ratio that is used.
func (r *Ruling) Size(cpu, memory int64) (size sizing.Container, known bool) {
	return r.convert(cpu, memory, r.profile.Bounds)
}

// Gets returns the size that a container gets in the end, as plans compute it. That follows from what its author wrote, what it
// needs according to usage, and the shares of its node, by sizing.Measure.Index. A resource without a target needs what the author
// wrote. It returns false as Size does.
func (r *Ruling) Gets(authored *sizing.Container, needs *need.Container, shares [2]float64, guaranteed bool) (size sizing.Container, known bool) {
	if r.entry == nil || r.entry.Unused != "" {
		return size, false
	}
	factors := [2]sizing.Factor{r.entry.CPUFactor, r.entry.MemoryFactor}
	all := r.authored(authored)
	for _, m := range sizing.Measures {
		n := &all[m.Index]
		if needs.Of(m).Target > 0 {
			n.Recommended, n.Share = needs.Of(m), shares[m.Index]
		}
		*m.Of(&size), _ = n.On(m, factors[m.Index], guaranteed)
	}
	return size, true
}

// authored returns what the resources of a container need according to its author, by sizing.Measure.Index.
func (r *Ruling) authored(of *sizing.Container) [2]need.Need {
	return [2]need.Need{{Authored: of.CPU, Bounds: &r.profile.Bounds.CPU}, {Authored: of.Memory, Bounds: &r.profile.Bounds.Memory}}
}

// Use is like Size, for amounts that a container uses: they have no bounds.
func (r *Ruling) Use(cpu, memory int64) (used sizing.Container, known bool) {
	return r.convert(cpu, memory, policy.Bounds{})
}

func (r *Ruling) convert(cpu, memory int64, bounds policy.Bounds) (to sizing.Container, known bool) {
	if r.entry == nil || r.entry.Unused != "" {
		return to, false
	}
	to.CPU, _ = sizing.CPU.Scale(sizing.Amount{Request: cpu}, r.entry.CPUFactor, bounds.CPU)
	to.Memory, _ = sizing.Memory.Scale(sizing.Amount{Request: memory}, r.entry.MemoryFactor, bounds.Memory)
	return to, true
}

// Rule returns the name of the rule; empty for the globals.
func (r *Ruling) Rule() string { return r.profile.Name }

// Bounds returns the bounds of requests.
func (r *Ruling) Bounds() policy.Bounds { return r.profile.Bounds }

// Usage returns what happens to the pod if its demand from usage differs from its size.
func (r *Ruling) Usage() string { return r.profile.Usage() }

// Demand returns where the demand of the pod comes from, as configured.
func (r *Ruling) Demand() *policy.Demand { return &r.profile.Demand }
