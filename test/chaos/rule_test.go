package chaos

import (
	"maps"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// rule is the desired state at one time: the ratios, the types of the nodes, and how to
// treat external resizes.
type rule struct {
	table     *table
	nodeTypes map[string]string
	external  plan.External
}

// noteRule adds the current rule to the recent rules.
func (w *world) noteRule() {
	last := len(w.rules) - 1
	w.rules[last] = append(w.rules[last], w.rule())
}

// rule returns the current rule.
func (w *world) rule() rule { return rule{w.table, maps.Clone(w.nodeTypes), w.external} }

// ofLate returns the rules that may apply to a write that is seen now. A write may arrive
// as late as the end of the next life, and be seen in the life after that. A process sees
// changes to ratios and nodes in either order.
func (w *world) ofLate() (all []rule) {
	late := slices.Concat(w.rules[:]...)
	for _, ratios := range late {
		for _, nodes := range late {
			all = append(all, rule{ratios.table, nodes.nodeTypes, ratios.external}, rule{ratios.table, nodes.nodeTypes, nodes.external})
		}
	}
	return all
}

// nextLife drops the rules of the oldest of the last lives.
func (w *world) nextLife() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rules = [...][]rule{w.rules[1], w.rules[2], {w.rule()}}
}

// want returns what a resource should have by the rule, given its original.
func (r *rule) want(original oracle.Amount, p pair, node string) oracle.Amount {
	cpuFactor, memoryFactor := r.table.factors(r.nodeTypes[node])
	if p.resource == corev1.ResourceCPU {
		return oracle.CPU(original, cpuFactor, r.table.cpuBounds)
	}
	return oracle.Memory(original, memoryFactor, r.table.memoryBounds)
}

// factor returns the factor of a resource, and the unit to which it is rounded.
func (r *rule) factor(p pair, node string) (factor *big.Rat, unit int64) {
	cpu, memory := r.table.factors(r.nodeTypes[node])
	if p.resource == corev1.ResourceCPU {
		return cpu, 1
	}
	return memory, oracle.Mebibyte
}

// holds reports whether a request is within the bounds of the rule.
func (r *rule) holds(p pair, request int64) bool {
	bounds := r.table.cpuBounds
	if p.resource == corev1.ResourceMemory {
		bounds = r.table.memoryBounds
	}
	return request >= bounds.Min && (bounds.Max == 0 || request <= bounds.Max)
}

// comesTo reports whether an original gives the current amounts of some parts of a
// resource, with or without bounds, as nearly as any original can. Because of rounding,
// no original gives some of the amounts.
func (r *rule) comesTo(original oracle.Amount, p pair, of map[part]bool, node string) bool {
	factor, memoryFactor := r.table.factors(r.nodeTypes[node])
	unit, unbounded, now := int64(1), oracle.CPU(original, factor, oracle.Range{}), p.now()
	if p.resource == corev1.ResourceMemory {
		factor, unit, unbounded = memoryFactor, oracle.Mebibyte, oracle.Memory(original, memoryFactor, oracle.Range{})
	}
	most, bounded := unit+ceiling(factor), r.want(original, p, node)
	near := func(a, b, c, most int64) bool { return distance(a, b) <= most || distance(a, c) <= most }
	if of[p.request()] && !near(now.Request, unbounded.Request, bounded.Request, most) {
		return false
	}
	return !of[p.limit()] || near(now.Limit, unbounded.Limit, bounded.Limit, most*(1+ceiling(big.NewRat(now.Limit, now.Request))))
}

func ceiling(x *big.Rat) int64 {
	n := new(big.Int).Add(x.Num(), x.Denom())
	return n.Quo(n, x.Denom()).Int64()
}

func distance(a, b int64) int64 { return max(a-b, b-a) }
