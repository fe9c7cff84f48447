package manifest

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// alias returns the first alias in a YAML document. Aliases are refused, as a few bytes of them
// expand to gigabytes. Text that is not YAML has none.
func alias(text []byte) (*yaml.Node, bool) {
	// Few documents have both characters, and then mostly in strings.
	if bytes.IndexByte(text, '&') < 0 || bytes.IndexByte(text, '*') < 0 {
		return nil, false
	}
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil {
		return nil, false // What converts the document reports why.
	}
	return aliasIn(&root)
}

// aliasIn looks for an alias in a node of a document, whose depth the parser bounds.
func aliasIn(node *yaml.Node) (*yaml.Node, bool) {
	if node.Kind == yaml.AliasNode {
		return node, true
	}
	for _, inner := range node.Content {
		if found, ok := aliasIn(inner); ok {
			return found, true
		}
	}
	return nil, false
}
