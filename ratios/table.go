package ratios

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// Table is what all layers come to. It never changes once it is made.
type Table struct {
	// Revision identifies the content: tables with the same revision size
	// every pod the same.
	Revision string
	// Baseline is the node type that requests are written for. It has an
	// entry.
	Baseline string
	// Bounds holds for every node type.
	Bounds Bounds

	entries map[string]*Entry
	names   []string
}

// Entry is one node type of a table.
type Entry struct {
	NodeType string
	// Ratio is the one in force.
	Ratio Ratio
	// Candidates are the ratios of all layers that name the node type, the
	// one in force first.
	Candidates []Ratio
	// CPUFactor is what cpu requests are multiplied by here: baseline / node.
	CPUFactor Quotient
	// MemoryFactor is what memory requests are multiplied by here.
	MemoryFactor Quotient
}

// Lookup returns the entry of a node type.
func (t *Table) Lookup(nodeType string) (*Entry, bool) {
	e, ok := t.entries[nodeType]
	return e, ok
}

// Knows tells whether the node type has an entry.
func (t *Table) Knows(nodeType string) bool {
	_, ok := t.entries[nodeType]
	return ok
}

// NodeTypes lists the node types in alphabetical order. The caller must not
// change the slice.
func (t *Table) NodeTypes() []string { return t.names }

// Merge makes a table of layers, the one that decides first at the front; nil
// layers are passed over. The error says what the layers lack together.
func Merge(layers []*Layer) (*Table, error) {
	t := &Table{entries: map[string]*Entry{}}
	bounded := false
	for _, layer := range layers {
		if layer == nil {
			continue
		}
		if t.Baseline == "" {
			t.Baseline = layer.Baseline
		}
		if !bounded && layer.Bounds != nil {
			t.Bounds, bounded = *layer.Bounds, true
		}
		for name, ratio := range layer.Ratios {
			e, ok := t.entries[name]
			if !ok {
				e = &Entry{NodeType: name, Ratio: ratio}
				t.entries[name] = e
			}
			e.Candidates = append(e.Candidates, ratio)
		}
	}
	if t.Baseline == "" {
		return nil, fmt.Errorf("no source names a baseline node type")
	}
	baseline, ok := t.entries[t.Baseline]
	if !ok {
		return nil, fmt.Errorf("the baseline node type %q has no ratio", t.Baseline)
	}
	for _, e := range t.entries {
		e.CPUFactor = quotient(baseline.Ratio.CPUPerf, e.Ratio.CPUPerf)
		e.MemoryFactor = quotient(baseline.Ratio.MemoryPerf, e.Ratio.MemoryPerf)
	}
	t.names = slices.Sorted(maps.Keys(t.entries))
	t.Revision = t.hash()
	return t, nil
}

// hash digests what sizes depend on; provenance and candidates do not count.
func (t *Table) hash() string {
	h := sha256.New()
	write := func(fields ...string) {
		for _, f := range fields {
			// Quoting keeps fields apart, whatever they contain. A
			// hash never returns an error.
			_, _ = io.WriteString(h, strconv.Quote(f))
		}
	}
	write(t.Baseline, fmt.Sprint(t.Bounds))
	for _, name := range t.names {
		e := t.entries[name]
		write(name, fmt.Sprint(e.Ratio.CPUPerf), fmt.Sprint(e.Ratio.MemoryPerf))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
