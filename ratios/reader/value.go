package reader

import (
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Value is one in a document.
type Value struct {
	// Path leads to it; empty for the document itself.
	Path   string
	node   *yaml.Node
	reader *Reader
}

// at is the value of a node, of what an alias stands for.
func (v Value) at(path string, n *yaml.Node) Value {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return Value{path, n, v.reader}
}

// Fault adds what is wrong with it.
func (v Value) Fault(format string, args ...any) {
	v.reader.Faults.Add(v.Path, "line %d: %s", v.node.Line, fmt.Sprintf(format, args...))
}

// KeyFault adds what is wrong with a key of the mapping, which may be missing.
func (v Value) KeyFault(key, format string, args ...any) {
	v.reader.Faults.Add(Join(v.Path, key), format, args...)
}

// IsNull tells that nothing is written.
func (v Value) IsNull() bool { return isNull(v.node) }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// Text is what a scalar says, whatever its type; false if it is no scalar, or null.
func (v Value) Text() (string, bool) {
	return v.node.Value, v.node.Kind == yaml.ScalarNode && !isNull(v.node)
}

// Number is a number that is one, and perhaps infinite.
func (v Value) Number() (f float64, ok bool) {
	if v.node.Kind != yaml.ScalarNode || v.node.Tag != "!!int" && v.node.Tag != "!!float" || v.node.Decode(&f) != nil {
		return 0, false
	}
	return f, !math.IsNaN(f)
}

// String describes the value in messages.
func (v Value) String() string {
	switch {
	case v.node.Kind == yaml.SequenceNode:
		return "a list"
	case v.node.Kind == yaml.MappingNode:
		return "a mapping"
	case v.IsNull() && v.node.Value == "":
		return "nothing"
	case strings.Contains(v.node.Value, "://"):
		return "a URL" // It may have a password.
	}
	return fmt.Sprintf("%q", v.node.Value)
}
