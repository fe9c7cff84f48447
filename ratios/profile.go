package ratios

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Profile is the configuration that applies to the pods of one rule, or to all pods that no
// rule matches. It never changes after its table is built.
type Profile struct {
	// Profile is what users want for these pods.
	policy.Profile
	// Baseline is the node type that the requests of these pods are written
	// for. It has an entry.
	Baseline string
	// MaxSpeedRatio is how many times faster or slower than the baseline a node type
	// may be to be used.
	MaxSpeedRatio float64

	rule    *Rule
	entries map[string]*Entry
	names   []string
}

// Entry is one node type of a profile.
type Entry struct {
	NodeType string
	// Ratio is the effective ratio.
	Ratio Ratio
	// Candidates are the ratios from the rule and from all layers that name the
	// node type. The effective ratio comes first.
	Candidates []Ratio
	// Observed are ratios that layers only show. They are not part of the revision.
	Observed []Ratio
	// CPUFactor is the factor for cpu requests: baseline / node.
	CPUFactor sizing.Factor
	// MemoryFactor is the factor for memory requests.
	MemoryFactor sizing.Factor
	// Excess says how far the ratio is beyond MaxSpeedRatio, for example "n4 would be 125
	// times as fast as n2d for cpu". Then the ratio is implausible, and the node type is
	// not used. It is empty if the node type is used.
	Excess string
	// Unused says why the node type is not used: Excess, and what to do.
	Unused string
}

// Rule returns the rule that the profile results from, which must not be modified; nil for the
// globals.
func (p *Profile) Rule() *Rule { return p.rule }

// Lookup returns the entry of a node type.
func (p *Profile) Lookup(nodeType string) (*Entry, bool) {
	e, ok := p.entries[nodeType]
	return e, ok
}

// Knows reports whether the node type has an entry.
func (p *Profile) Knows(nodeType string) bool {
	_, ok := p.entries[nodeType]
	return ok
}

// NodeTypes returns the node types in alphabetical order. The caller must not
// modify the slice.
func (p *Profile) NodeTypes() []string { return p.names }

// withRule returns the profile that results from applying a rule to the globals p. The error
// describes what the combination lacks.
func (p *Profile) withRule(r *Rule, globals *keys.Partial[policy.Settings]) (*Profile, error) {
	wanted, err := policy.NewRule(r.Name, r.Match, &r.Settings, globals)
	if err != nil {
		return nil, err
	}
	q := &Profile{Profile: wanted, Baseline: cmp.Or(r.Baseline, p.Baseline), MaxSpeedRatio: cmp.Or(r.MaxSpeedRatio, p.MaxSpeedRatio), rule: r}
	if q.Baseline == p.Baseline && q.MaxSpeedRatio == p.MaxSpeedRatio && len(r.Ratios) == 0 {
		q.entries, q.names = p.entries, p.names
		return q, nil
	}
	q.entries = make(map[string]*Entry, len(p.entries))
	for name, e := range p.entries {
		q.entries[name] = &Entry{NodeType: name, Ratio: e.Ratio, Candidates: e.Candidates, Observed: e.Observed}
	}
	for name, ratio := range r.Ratios {
		candidates, observed := []Ratio{ratio}, []Ratio(nil)
		if e, ok := p.entries[name]; ok {
			candidates, observed = append(candidates, e.Candidates...), e.Observed
		}
		q.entries[name] = &Entry{NodeType: name, Ratio: ratio, Candidates: candidates, Observed: observed}
	}
	if err := q.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	return q, nil
}

// complete computes the values that derive from the baseline and the ratios.
func (p *Profile) complete() error {
	baseline, ok := p.entries[p.Baseline]
	if !ok {
		return fmt.Errorf("the baseline node type %q has no ratio", p.Baseline)
	}
	most, baseCPU, baseMemory := decimal(p.MaxSpeedRatio), decimal(baseline.Ratio.CPUPerf), decimal(baseline.Ratio.MemoryPerf)
	for _, e := range p.entries {
		cpu, memory := new(big.Rat).Quo(baseCPU, decimal(e.Ratio.CPUPerf)), new(big.Rat).Quo(baseMemory, decimal(e.Ratio.MemoryPerf))
		e.CPUFactor, e.MemoryFactor = factor(cpu), factor(memory)
		e.Excess = excess(e, baseline, most, cpu, memory)
		e.Unused = p.unused(e, baseline)
	}
	p.names = slices.Sorted(maps.Keys(p.entries))
	return nil
}
