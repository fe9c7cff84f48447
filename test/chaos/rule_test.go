package chaos

import (
	"maps"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// rule is what people want at one time: the ratios, the types of the nodes, and what is
// to become of others' resizes.
type rule struct {
	table     *table
	nodeTypes map[string]string
	external  plan.External
}

// noteRule has what people want now counted among the rules of late.
func (w *world) noteRule() {
	last := len(w.rules) - 1
	w.rules[last] = append(w.rules[last], w.rule())
}

// rule is what people want now.
func (w *world) rule() rule { return rule{w.table, maps.Clone(w.nodeTypes), w.external} }

// ofLate are the rules that a process can have gone by whose write is seen now: a write
// comes as late as at the end of the life after, and is seen in the next one. Ratios and
// nodes are seen one before the other, in either order.
func (w *world) ofLate() (all []rule) {
	late := slices.Concat(w.rules[:]...)
	for _, ratios := range late {
		for _, nodes := range late {
			all = append(all, rule{ratios.table, nodes.nodeTypes, ratios.external}, rule{ratios.table, nodes.nodeTypes, nodes.external})
		}
	}
	return all
}

// nextLife has the rules of the first of the last lives forgotten.
func (w *world) nextLife() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rules = [...][]rule{w.rules[1], w.rules[2], {w.rule()}}
}

// want is what a resource is to have by the rule, given its original.
func (r *rule) want(original oracle.Amount, p pair, node string) oracle.Amount {
	cpuFactor, memoryFactor := r.table.factors(r.nodeTypes[node])
	if p.resource == corev1.ResourceCPU {
		return oracle.CPU(original, cpuFactor, r.table.cpuBounds)
	}
	return oracle.Memory(original, memoryFactor, r.table.memoryBounds)
}

// factor is what a resource is multiplied by, and what it is rounded to.
func (r *rule) factor(p pair, node string) (factor *big.Rat, unit int64) {
	cpu, memory := r.table.factors(r.nodeTypes[node])
	if p.resource == corev1.ResourceCPU {
		return cpu, 1
	}
	return memory, oracle.Mebibyte
}

// holds tells whether a request is within the bounds of the rule.
func (r *rule) holds(p pair, request int64) bool {
	bounds := r.table.cpuBounds
	if p.resource == corev1.ResourceMemory {
		bounds = r.table.memoryBounds
	}
	return request >= bounds.Min && (bounds.Max == 0 || request <= bounds.Max)
}

// comesTo tells whether an original comes to what some parts of a resource are, bounds
// aside, as nearly as any does: rounding leaves amounts that no original comes to.
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
