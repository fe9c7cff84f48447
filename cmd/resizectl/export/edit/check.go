package edit

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// bytes returns the changed text of a part, if it says what was meant.
func (p *part) bytes() ([]byte, error) {
	if len(p.edits) == 0 {
		return p.text, nil
	}
	edits := slices.Clone(p.edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var text bytes.Buffer
	at := 0
	for _, e := range edits {
		if e.from < at {
			return nil, errOverlap
		}
		text.Write(p.text[at:e.from])
		text.WriteString(e.with)
		at = e.to
	}
	text.Write(p.text[at:])
	roots, err := parse(text.Bytes())
	if err != nil || len(roots) != len(p.documents) {
		return nil, &Fault{Line: p.line + 1, Problem: "it cannot be changed without changing something else"}
	}
	for i, d := range p.documents {
		if at := d.differs(d.Root, roots[i].Content[0]); at != nil {
			return nil, &Fault{Line: d.Line(at), Problem: "it cannot be changed without changing something else"}
		}
	}
	return text.Bytes(), nil
}

var errOverlap = errors.New("two changes are in the same place")

// differs returns the first node of the document that is not as it was meant to be in the changed text; nil if all are.
func (d *Document) differs(old, changed *yaml.Node) *yaml.Node {
	if value, ok := d.set[old]; ok {
		var decoded any // A tag such as !!float may not allow the new value.
		if changed.Kind != yaml.ScalarNode || changed.Value != value || changed.Anchor != old.Anchor || changed.Decode(&decoded) != nil {
			return old
		}
		return nil
	}
	added, grown := d.added[old]
	if grown && old.Kind == yaml.ScalarNode { // It was empty.
		if changed.Kind != yaml.MappingNode || !has(changed.Content, added.entries) {
			return old
		}
		return nil
	}
	if old.Kind != changed.Kind || old.Style != changed.Style || old.Tag != changed.Tag || old.Value != changed.Value || old.Anchor != changed.Anchor {
		return old
	}
	content := changed.Content
	if grown {
		n := 2*len(added.entries) + len(added.items)
		if len(content) < added.at+n {
			return old
		}
		more := content[added.at : added.at+n]
		if added.items != nil && !hasItems(more, added.items) || added.items == nil && !has(more, added.entries) {
			return old
		}
		content = slices.Concat(content[:added.at], content[added.at+n:])
	}
	if len(content) != len(old.Content) {
		return old
	}
	for i, inner := range old.Content {
		if at := d.differs(inner, content[i]); at != nil {
			return at
		}
	}
	return nil
}

// has reports whether the content of a mapping is exactly the entries.
func has(content []*yaml.Node, entries []Entry) bool {
	if len(content) != 2*len(entries) {
		return false
	}
	for i, e := range entries {
		key, value := content[2*i], content[2*i+1]
		switch {
		case key.Value != e.Key:
			return false
		case len(e.Items) > 0:
			if value.Kind != yaml.SequenceNode || !hasItems(value.Content, e.Items) {
				return false
			}
		case len(e.Entries) > 0:
			if value.Kind != yaml.MappingNode || !has(value.Content, e.Entries) {
				return false
			}
		case value.Kind != yaml.ScalarNode || value.Value != strings.Trim(e.Value, `"'`):
			return false
		}
	}
	return true
}

// hasItems reports whether the content of a sequence is exactly the mappings.
func hasItems(content []*yaml.Node, items [][]Entry) bool {
	if len(content) != len(items) {
		return false
	}
	for i, entries := range items {
		if content[i].Kind != yaml.MappingNode || !has(content[i].Content, entries) {
			return false
		}
	}
	return true
}
