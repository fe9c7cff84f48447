package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// reader walks through a document and collects its faults.
type reader struct {
	from    ratios.Provenance
	faults  Faults
	entries int
}

// mostEntries is how many entries of mappings and lists are read: far more than
// anybody writes, but aliases of aliases come to millions.
const mostEntries = 100_000

// spent counts an entry, and tells whether it is one too many.
func (r *reader) spent() bool {
	r.entries++
	if r.entries == mostEntries {
		r.faults.add("", "more than %d entries, aliases followed", mostEntries-1)
	}
	return r.entries >= mostEntries
}

// each calls visit for every entry of a mapping. An alias is followed; a null
// is an empty mapping.
func (r *reader) each(path string, n *yaml.Node, visit func(path, key string, value *yaml.Node)) {
	n = resolve(n)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.faults.add(path, "line %d: want a mapping, got %s", n.Line, describe(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content) && !r.spent(); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			r.faults.add(path, "line %d: want a plain key, got %s", key.Line, describe(key))
			continue
		}
		at := join(path, key.Value)
		if seen[key.Value] {
			r.faults.add(at, "line %d: set twice", key.Line)
			continue
		}
		seen[key.Value] = true
		visit(at, key.Value, resolve(n.Content[i+1]))
	}
}

// items calls visit for every item of a list. An alias is followed; a null is
// an empty list.
func (r *reader) items(path string, n *yaml.Node, visit func(path string, item *yaml.Node)) {
	n = resolve(n)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		r.faults.add(path, "line %d: want a list, got %s", n.Line, describe(n))
		return
	}
	for i, item := range n.Content {
		if r.spent() {
			return
		}
		visit(fmt.Sprintf("%s[%d]", path, i), resolve(item))
	}
}

// read reads the value of a key.
type read func(path string, value *yaml.Node)

// fields reads the value of every key; keys that are not known are faults.
func (r *reader) fields(path string, n *yaml.Node, known map[string]read) {
	r.each(path, n, func(at, key string, value *yaml.Node) {
		read, ok := known[key]
		if !ok {
			r.faults.add(at, "line %d: unknown key", value.Line)
			return
		}
		read(at, value)
	})
}

func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	case yaml.AliasNode:
		return "an alias"
	}
	return fmt.Sprintf("%q", n.Value)
}
