package reader

import (
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Value is a value in a document.
type Value struct {
	// Path is the path to the value; empty for the document itself.
	Path   string
	node   *yaml.Node
	reader *Reader
}

// at returns the value of a node, or of the node that an alias refers to.
func (v Value) at(path string, n *yaml.Node) Value {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return Value{path, n, v.reader}
}

// child is like at, and remembers the line.
func (v Value) child(path string, n *yaml.Node) Value {
	of := v.at(path, n)
	if v.reader.lines == nil {
		v.reader.lines = map[string]int{}
	}
	v.reader.lines[path] = of.node.Line
	return of
}

// Fault adds a fault of the value.
func (v Value) Fault(format string, args ...any) {
	v.reader.Faults.add(v.Path, v.node.Line, format, args...)
}

// KeyFault adds a fault of a key of the mapping, which may be missing.
func (v Value) KeyFault(key, format string, args ...any) {
	v.reader.Faults.Add(Join(v.Path, key), format, args...)
}

// IsNull reports whether the value is null or missing.
func (v Value) IsNull() bool { return isNull(v.node) }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// Text returns the text of a scalar of any type; false if the value is null or not a scalar.
func (v Value) Text() (string, bool) {
	return v.node.Value, v.node.Kind == yaml.ScalarNode && !isNull(v.node)
}

// Number returns a number, which may be infinite but not NaN; false if the value is not a number.
func (v Value) Number() (f float64, ok bool) {
	if v.node.Kind != yaml.ScalarNode || v.node.Tag != "!!int" && v.node.Tag != "!!float" || v.node.Decode(&f) != nil {
		return 0, false
	}
	return f, !math.IsNaN(f)
}

// ValidNumber returns a number that is valid. It adds a fault for any other value: must, such as
// "must be above 0", and what the value is instead.
func (v Value) ValidNumber(must string, valid func(float64) bool) (f float64, ok bool) {
	if f, ok := v.Number(); ok && valid(f) {
		return f, true
	}
	if f, ok := v.unquoted().Number(); ok && valid(f) {
		v.Fault("%s, not a string: write %s without quotes", must, v.node.Value)
	} else {
		v.Fault("%s, not %s", must, v)
	}
	return 0, false
}

// unquoted returns the value that the text in quotes would have without them; any other value as
// it is.
func (v Value) unquoted() Value {
	if v.node.Kind != yaml.ScalarNode || v.node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		return v
	}
	plain := &yaml.Node{Kind: yaml.ScalarNode, Value: v.node.Value, Line: v.node.Line}
	plain.Tag = plain.ShortTag()
	return Value{v.Path, plain, v.reader}
}

// String describes the value in messages.
func (v Value) String() string {
	switch {
	case v.node.Kind == yaml.SequenceNode:
		return "a list"
	case v.node.Kind == yaml.MappingNode:
		return "a mapping"
	case v.IsNull() && v.node.Value == "":
		return "an empty value"
	case strings.Contains(v.node.Value, "://"):
		return "a URL" // It may contain a password.
	}
	return fmt.Sprintf("%q", v.node.Value)
}
