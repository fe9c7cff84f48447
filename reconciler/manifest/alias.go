package manifest

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// mostAliased and mostAliasedBytes are how many values, and bytes of text, the aliases of a YAML document
// may stand for together: a few bytes of aliases can expand to gigabytes.
const mostAliased, mostAliasedBytes = 2_000, 256 << 10

// expansion is what a part of a document has with its aliases written out.
type expansion struct{ values, bytes int }

// aliases reports whether a YAML document has aliases. It returns a fault if they stand for too much.
// Text that is not YAML has none.
func aliases(text []byte) (bool, *fault) {
	// Few documents have both characters, and then mostly in strings.
	if bytes.IndexByte(text, '&') < 0 || bytes.IndexByte(text, '*') < 0 {
		return false, nil
	}
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil {
		return false, nil // What converts the document reports why.
	}
	e := expander{known: map[*yaml.Node]expansion{}}
	e.expand(&root)
	return e.aliased.values > 0, e.refused
}

// expander adds up what aliases stand for.
type expander struct {
	known   map[*yaml.Node]expansion
	aliased expansion
	refused *fault
}

// expand returns what a node of a document has, whose depth the parser bounds.
func (e *expander) expand(node *yaml.Node) expansion {
	if node.Kind == yaml.AliasNode {
		return e.alias(node)
	}
	has := expansion{1, len(node.Value)}
	seen := map[string]bool{}
	for i, inner := range node.Content {
		found := e.expand(inner)
		has.values += found.values
		has.bytes += found.bytes
		if node.Kind != yaml.MappingNode || i%2 == 1 || inner.Kind != yaml.ScalarNode {
			continue
		}
		// The conversion does not report this next to merged keys.
		if seen[inner.Value] && e.refused == nil {
			e.refused = &fault{line: inner.Line, problem: fmt.Sprintf("key %.64q already set in map", inner.Value)}
		}
		seen[inner.Value] = true
	}
	if node.Anchor != "" {
		e.known[node] = has
	}
	return has
}

// alias returns what an alias stands for. An anchor that is not complete contains the alias.
func (e *expander) alias(node *yaml.Node) expansion {
	has, complete := e.known[node.Alias]
	e.aliased.values += has.values
	e.aliased.bytes += has.bytes
	switch {
	case e.refused != nil:
	case !complete:
		e.refused = &fault{line: node.Line, problem: fmt.Sprintf("*%.64s stands for a value that contains it", node.Value)}
	case e.aliased.values > mostAliased, e.aliased.bytes > mostAliasedBytes:
		e.refused = &fault{line: node.Line, problem: fmt.Sprintf("the YAML aliases up to *%.64s stand for more than %d values or %d KiB: write out what they stand for", node.Value, mostAliased, mostAliasedBytes>>10)}
	}
	if e.refused != nil {
		return expansion{}
	}
	return has
}
