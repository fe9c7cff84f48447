package edit

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is one document of a file, and what to change in it.
type Document struct {
	// Root is the value of the document. It must not be changed.
	Root *yaml.Node
	in   *part
	// aliased has the nodes that aliases stand for.
	aliased map[*yaml.Node]bool
	// set has the new values of scalars, and added the new entries of mappings and sequences.
	set   map[*yaml.Node]string
	added map[*yaml.Node]addition
	// undo has how to take back each change.
	undo []func()
	// lines has the line of each node in order, and last has the index of the last node in each one.
	lines []int
	last  map[*yaml.Node]int
	// outer is the document whose scalar contains this one; nil for a document of a file.
	outer *embedding
}

// addition is what is added to a mapping or sequence, before the node with an index.
type addition struct {
	at      int
	entries []Entry
	items   [][]Entry
}

func newDocument(p *part, root *yaml.Node) *Document {
	d := &Document{Root: root.Content[0], in: p, aliased: map[*yaml.Node]bool{}, set: map[*yaml.Node]string{}, added: map[*yaml.Node]addition{}}
	d.findAliases(d.Root)
	return d
}

func (d *Document) findAliases(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		d.aliased[n.Alias] = true
		return
	}
	for _, inner := range n.Content {
		d.findAliases(inner)
	}
}

// Line returns the line of a node in the file.
func (d *Document) Line(n *yaml.Node) int {
	if d.outer != nil {
		return d.outer.document.Line(d.outer.scalar) + n.Line
	}
	return d.in.line + n.Line
}

// FirstLine returns the line of the file where the document starts.
func (d *Document) FirstLine() int { return d.Line(d.Root) }

// Text returns the text of the document, with that of others if they are not separated by ---.
func (d *Document) Text() []byte { return d.in.text }

// Find returns the key and the value of an entry of a mapping; nil if there is none.
func Find(m *yaml.Node, name string) (key, value *yaml.Node) {
	if m == nil || m.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if isKey(m.Content[i], name) {
			return m.Content[i], m.Content[i+1]
		}
	}
	return nil, nil
}

// isKey reports whether a key has a name. It may be an alias for it.
func isKey(k *yaml.Node, name string) bool {
	if k.Kind == yaml.AliasNode {
		k = k.Alias
	}
	return k.Kind == yaml.ScalarNode && k.Value == name && k.Tag != "!!merge"
}

// Twice returns the second entry of a mapping with one of the names; nil if none is there twice. Programs differ in which of
// the two they use.
func Twice(m *yaml.Node, names ...string) *yaml.Node {
	if m == nil || m.Kind != yaml.MappingNode {
		return nil
	}
	for _, name := range names {
		found := false
		for i := 0; i+1 < len(m.Content); i += 2 {
			if !isKey(m.Content[i], name) {
				continue
			}
			if found {
				return m.Content[i]
			}
			found = true
		}
	}
	return nil
}

// Value returns what an entry of a mapping has; nil if there is none.
func Value(m *yaml.Node, name string) *yaml.Node {
	_, value := Find(m, name)
	return value
}

// Merges reports whether a mapping takes entries from another one (<<).
func Merges(m *yaml.Node) bool {
	return m != nil && m.Kind == yaml.MappingNode && slices.ContainsFunc(m.Content, func(n *yaml.Node) bool { return n.Tag == "!!merge" })
}

// Aliased reports whether a node stands in more than one place: it is an alias, or an alias stands for it.
func (d *Document) Aliased(n *yaml.Node) bool { return n.Kind == yaml.AliasNode || d.aliased[n] }

// Empty reports whether a node is a missing value, as after "key:".
func Empty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

// Set gives a scalar a new value. The value is written as it is, in the quotes of the old one.
func (d *Document) Set(n *yaml.Node, value string) error {
	s, err := d.in.scalar(n)
	if err != nil {
		return d.misread(n, err)
	}
	if !simple(value) {
		return d.misread(n, fmt.Errorf("%q cannot be written without quotes", value))
	}
	d.change(n, s.from, s.to, value)
	d.set[n] = value
	return nil
}

// SetQuoted is like Set, and adds double quotes to a scalar that has none: JSON has no other text.
func (d *Document) SetQuoted(n *yaml.Node, value string) error {
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return d.Set(n, value)
	}
	s, err := d.in.scalar(n)
	if err != nil {
		return d.misread(n, err)
	}
	d.change(n, s.from, s.to, `"`+value+`"`)
	d.set[n] = value
	return nil
}

// change replaces text because of a new value of a node, or new entries of it.
func (d *Document) change(n *yaml.Node, from, to int, with string) {
	before := len(d.in.edits)
	d.in.edits = append(d.in.edits, edit{from, to, with})
	set, added := previous(d.set, n), previous(d.added, n)
	d.undo = append(d.undo, func() {
		d.in.edits = d.in.edits[:before]
		set()
		added()
	})
}

// previous returns what gives a map the value back that it has for a node.
func previous[V any](m map[*yaml.Node]V, n *yaml.Node) func() {
	value, had := m[n]
	return func() {
		if had {
			m[n] = value
		} else {
			delete(m, n)
		}
	}
}

// Mark returns how many changes there are.
func (d *Document) Mark() int { return len(d.undo) }

// Undo takes back the changes since a mark. Other documents of the file must not have been changed since.
func (d *Document) Undo(mark int) {
	for ; len(d.undo) > mark; d.undo = d.undo[:len(d.undo)-1] {
		d.undo[len(d.undo)-1]()
	}
}

func (d *Document) misread(n *yaml.Node, err error) error {
	return &Fault{Line: d.Line(n), Problem: err.Error()}
}

// simple reports whether a value is the same with and without quotes, in all styles.
func simple(value string) bool {
	special := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("./_-", c)
	}
	return value != "" && value[0] != '-' && !strings.ContainsFunc(value, special)
}

// PartLine returns the line of the file where Text starts.
func (d *Document) PartLine() int { return d.in.line + 1 }
