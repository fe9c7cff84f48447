package ratios

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Profile is what holds for the pods of one rule, or for all that no rule
// matches. It never changes once its table is made.
type Profile struct {
	// Name is that of the rule; empty for the globals.
	Name string
	// Baseline is the node type that the requests of these pods are written
	// for. It has an entry.
	Baseline string
	// Bounds holds for every node type.
	Bounds Bounds

	match   matcher
	entries map[string]*Entry
	names   []string
}

// Entry is one node type of a profile.
type Entry struct {
	NodeType string
	// Ratio is the one in force.
	Ratio Ratio
	// Candidates are the ratios of the rule and of all layers that name the
	// node type, the one in force first.
	Candidates []Ratio
	// CPUFactor is what cpu requests are multiplied by here: baseline / node.
	CPUFactor sizing.Factor
	// MemoryFactor is what memory requests are multiplied by here.
	MemoryFactor sizing.Factor
}

// Lookup returns the entry of a node type.
func (p *Profile) Lookup(nodeType string) (*Entry, bool) {
	e, ok := p.entries[nodeType]
	return e, ok
}

// Knows tells whether the node type has an entry.
func (p *Profile) Knows(nodeType string) bool {
	_, ok := p.entries[nodeType]
	return ok
}

// NodeTypes lists the node types in alphabetical order. The caller must not
// change the slice.
func (p *Profile) NodeTypes() []string { return p.names }

// with returns what a rule makes of the globals p. The error says what the two
// lack together.
func (p *Profile) with(r *Rule) (*Profile, error) {
	q := &Profile{Name: r.Name, Baseline: cmp.Or(r.Baseline, p.Baseline), Bounds: r.Bounds.Over(p.Bounds), match: newMatcher(r.Match)}
	switch {
	case !q.Bounds.CPU.Valid():
		return nil, fmt.Errorf("%s: with the globals, the min of cpu is above its max", r.Name)
	case !q.Bounds.Memory.Valid():
		return nil, fmt.Errorf("%s: with the globals, the min of memory is above its max", r.Name)
	}
	if q.Baseline == p.Baseline && len(r.Ratios) == 0 {
		q.entries, q.names = p.entries, p.names
		return q, nil
	}
	q.entries = make(map[string]*Entry, len(p.entries))
	for name, e := range p.entries {
		q.entries[name] = &Entry{NodeType: name, Ratio: e.Ratio, Candidates: e.Candidates}
	}
	for name, ratio := range r.Ratios {
		candidates := []Ratio{ratio}
		if e, ok := p.entries[name]; ok {
			candidates = append(candidates, e.Candidates...)
		}
		q.entries[name] = &Entry{NodeType: name, Ratio: ratio, Candidates: candidates}
	}
	if err := q.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	return q, nil
}

// complete computes what follows from the baseline and the ratios.
func (p *Profile) complete() error {
	baseline, ok := p.entries[p.Baseline]
	if !ok {
		return fmt.Errorf("the baseline node type %q has no ratio", p.Baseline)
	}
	for _, e := range p.entries {
		e.CPUFactor = factor(baseline.Ratio.CPUPerf, e.Ratio.CPUPerf)
		e.MemoryFactor = factor(baseline.Ratio.MemoryPerf, e.Ratio.MemoryPerf)
	}
	p.names = slices.Sorted(maps.Keys(p.entries))
	return nil
}
