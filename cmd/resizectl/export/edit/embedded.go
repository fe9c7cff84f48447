package edit

import (
	"bytes"
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
)

// embedding is where a document is in another one.
type embedding struct {
	document *Document
	scalar   *yaml.Node
}

// Embedded returns the YAML document in the text of a scalar, as in a block that starts with "|". Its changes count once
// Close is called.
func (d *Document) Embedded(n *yaml.Node) (*Document, error) {
	if n.Kind != yaml.ScalarNode || n.Style&yaml.LiteralStyle == 0 {
		return nil, d.misread(n, errors.New("it is not a mapping, or a block of text that starts with |"))
	}
	if d.outer != nil {
		return nil, d.misread(n, errors.New("it is in text that is in text itself"))
	}
	text := []byte(n.Value)
	p := &part{text: text, starts: lineStarts(text)}
	roots, err := parse(text)
	if err != nil || len(roots) != 1 {
		return nil, d.misread(n, errors.New("its text is not one YAML document"))
	}
	inner := newDocument(p, roots[0])
	p.documents = []*Document{inner}
	inner.outer = &embedding{d, n}
	return inner, nil
}

// Close makes the changes to a document that Embedded has returned.
func (d *Document) Close() error {
	inner, outer := d.in, d.outer.document.in
	n := d.outer.scalar
	changed, err := inner.bytes()
	if err != nil {
		return d.outer.document.misread(n, errors.New("its text cannot be changed without changing something else"))
	}
	indent := -1
	for i := range inner.starts { // The indentation of the block, from its first line with text.
		text, line := inner.lineText(i+1), n.Line+1+i
		if len(bytes.TrimSpace(text)) == 0 || line > len(outer.starts) {
			continue
		}
		raw := outer.lineText(line)
		if !bytes.HasSuffix(raw, text) {
			return d.outer.document.misread(n, errUnclear)
		}
		indent = len(raw) - len(text)
		break
	}
	if indent < 0 {
		return d.outer.document.misread(n, errUnclear)
	}
	place := func(at int) int {
		line := 0
		for line+1 < len(inner.starts) && inner.starts[line+1] <= at {
			line++
		}
		return outer.starts[n.Line+line] + indent + at - inner.starts[line]
	}
	for _, e := range inner.edits {
		with := strings.ReplaceAll(e.with, "\n", outer.lineEnding(n.Line)+strings.Repeat(" ", indent))
		outer.edits = append(outer.edits, edit{place(e.from), place(e.to), with})
	}
	if len(inner.edits) > 0 {
		d.outer.document.set[n] = string(changed)
	}
	return nil
}
