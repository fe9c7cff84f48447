package edit

import (
	"bytes"
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Entry is an entry to add to a mapping: a value, or a mapping with entries.
type Entry struct {
	Key, Value string
	Entries    []Entry
	// Items are the mappings in a sequence.
	Items [][]Entry
}

// Add adds entries to a mapping, after the entry with a key; at the end if the key is empty. They are written like the
// entries that the mapping has.
func (d *Document) Add(m *yaml.Node, behind string, entries ...Entry) error {
	at := len(m.Content)
	for i := 0; i+1 < len(m.Content); i += 2 {
		if behind != "" && m.Content[i].Value == behind {
			at = i + 2
		}
	}
	if _, twice := d.added[m]; twice {
		return d.misread(m, errors.New("entries can be added to it only once"))
	}
	if err := d.insert(m, at, entries); err != nil {
		return d.misread(m, err)
	}
	return nil
}

// Fill gives a key without a value the entries of a mapping. m is the mapping that has the key.
func (d *Document) Fill(m *yaml.Node, name string, entries []Entry) error {
	key, value := Find(m, name)
	if key == nil || !Empty(value) || m.Style&yaml.FlowStyle != 0 {
		return d.misread(m, errUnclear)
	}
	p := d.in
	w := writer{ending: p.lineEnding(key.Line), step: d.step(m), quote: quoteOf(key)}
	at := p.lineEnd(key.Line)
	d.change(value, at, at, w.block(entries, key.Column-1+w.step))
	d.added[value] = addition{entries: entries}
	return nil
}

// AddItems adds mappings at the end of a sequence.
func (d *Document) AddItems(sequence *yaml.Node, items [][]Entry) error {
	if _, twice := d.added[sequence]; twice || sequence.Kind != yaml.SequenceNode {
		return d.misread(sequence, errUnclear)
	}
	if err := d.insertItems(sequence, items); err != nil {
		return d.misread(sequence, err)
	}
	d.added[sequence] = addition{at: len(sequence.Content), items: items}
	return nil
}

func (d *Document) insertItems(into *yaml.Node, items [][]Entry) error {
	p, n := d.in, len(into.Content)
	w := writer{step: d.step(into), json: d.json()}
	if into.Style&yaml.FlowStyle == 0 {
		if n == 0 {
			return errUnclear
		}
		first := into.Content[0]
		dash := bytes.IndexByte(p.lineText(first.Line), '-') // The column of an item is after its dash.
		if dash < 0 || dash >= first.Column {
			return errUnclear
		}
		line := d.lastLine(into.Content[n-1])
		w.ending = p.lineEnding(line)
		end := p.lineEnd(line)
		d.change(into, end, end, w.items(items, dash))
		return nil
	}
	if w.json {
		w.quote = `"`
	}
	if n == 0 {
		begin, err := p.value(into)
		if err != nil {
			return err
		}
		d.change(into, begin+1, begin+1, w.listed(items))
		return nil
	}
	end, err := p.end(into.Content[n-1])
	if err != nil {
		return err
	}
	d.change(into, end, end, ", "+w.listed(items))
	return nil
}

func (d *Document) insert(into *yaml.Node, at int, entries []Entry) (err error) {
	if into.Style&yaml.FlowStyle != 0 {
		err = d.insertFlow(into, at, entries)
	} else {
		err = d.insertBlock(into, at, entries)
	}
	if err == nil {
		d.added[into] = addition{at: at, entries: entries}
	}
	return err
}

func (d *Document) insertBlock(into *yaml.Node, at int, entries []Entry) error {
	p := d.in
	if at == 0 {
		return errUnclear // Only flow style has empty mappings.
	}
	first := into.Content[0]
	w := writer{step: d.step(into), quote: quoteOf(first), dash: d.dash(into)}
	line := d.lastLine(into.Content[at-1])
	w.ending = p.lineEnding(line)
	end := p.lineEnd(line)
	d.change(into, end, end, w.block(entries, first.Column-1))
	return nil
}

func (d *Document) insertFlow(into *yaml.Node, at int, entries []Entry) error {
	p := d.in
	w := writer{step: d.step(into), json: d.json()}
	if at == 0 {
		begin, err := p.value(into)
		if err != nil {
			return err
		}
		if w.json {
			w.quote = `"`
		}
		d.change(into, begin+1, begin+1, w.flow(entries, -1))
		return nil
	}
	first := into.Content[0]
	w.quote = quoteOf(first)
	end, err := p.end(into.Content[at-1])
	if err != nil {
		return err
	}
	if first.Line == into.Line { // On one line, or at least not one line per entry.
		d.change(into, end, end, ", "+w.flow(entries, -1))
		return nil
	}
	w.ending = p.lineEnding(first.Line)
	line := string(p.lineText(first.Line))
	if w.indent = line[:len(line)-len(strings.TrimLeft(line, " \t"))]; strings.Contains(w.indent, "\t") {
		w.step = 1
	}
	d.change(into, end, end, ","+w.ending+w.indent+w.flow(entries, 0))
	return nil
}

// json reports whether the document is JSON, or written like it.
func (d *Document) json() bool {
	n := d.Root
	return n.Style&yaml.FlowStyle != 0 && (len(n.Content) == 0 || n.Kind == yaml.MappingNode && n.Content[0].Style&yaml.DoubleQuotedStyle != 0)
}

// JSON reports whether text must have double quotes.
func (d *Document) JSON() bool { return d.json() }

// step returns by how much the document indents the mappings in a mapping: as in it, or else as in the first one that
// has any.
func (d *Document) step(m *yaml.Node) int {
	if step := stepIn(m); step > 0 {
		return step
	}
	if step := stepBelow(d.Root); step > 0 {
		return step
	}
	return 2
}

func stepIn(m *yaml.Node) int {
	if m.Kind != yaml.MappingNode {
		return 0
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && value.Content[0].Line > key.Line && value.Content[0].Column > key.Column {
			return value.Content[0].Column - key.Column
		}
	}
	return 0
}

func stepBelow(n *yaml.Node) int {
	if step := stepIn(n); step > 0 {
		return step
	}
	for _, inner := range n.Content {
		if step := stepBelow(inner); step > 0 {
			return step
		}
	}
	return 0
}

// dash returns by how much a mapping indents the items of the sequences in it.
func (d *Document) dash(m *yaml.Node) int {
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		if value.Kind == yaml.SequenceNode && value.Style&yaml.FlowStyle == 0 && len(value.Content) > 0 {
			if at := bytes.IndexByte(d.in.lineText(value.Content[0].Line), '-'); at >= key.Column-1 {
				return at - (key.Column - 1)
			}
		}
	}
	return 0
}

// quoteOf returns the quotes of a scalar.
func quoteOf(n *yaml.Node) string {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return `"`
	case n.Style&yaml.SingleQuotedStyle != 0:
		return "'"
	}
	return ""
}

// writer writes entries in a style.
type writer struct {
	ending string
	step   int
	// quote is around keys, and around values if values is set or the text is JSON.
	quote  string
	json   bool
	indent string
	// dash is by how much the items of sequences are indented.
	dash int
}

// block returns the lines of entries, each after a line break.
func (w *writer) block(entries []Entry, indent int) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(w.ending + strings.Repeat(" ", indent) + w.quote + e.Key + w.quote + ":")
		if len(e.Items) > 0 {
			b.WriteString(w.items(e.Items, indent+w.dash))
			continue
		}
		if len(e.Entries) > 0 {
			b.WriteString(w.block(e.Entries, indent+w.step))
			continue
		}
		b.WriteString(" " + e.Value)
	}
	return b.String()
}

// flow returns entries without braces. With an indent of -1, they are on one line.
func (w *writer) flow(entries []Entry, indent int) string {
	separator := ", "
	if indent >= 0 {
		separator = "," + w.ending + w.at(indent)
	}
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = w.quote + e.Key + w.quote + ": "
		switch {
		case len(e.Items) > 0:
			texts[i] += "[" + w.listed(e.Items) + "]"
		case len(e.Entries) > 0:
			texts[i] += w.braces(e.Entries, indent)
		case w.json && !number(e.Value):
			texts[i] += `"` + strings.Trim(e.Value, `"'`) + `"`
		default:
			texts[i] += e.Value
		}
	}
	return strings.Join(texts, separator)
}

// at returns the indentation of a line in braces. JSON may have tabs.
func (w *writer) at(indent int) string {
	unit := " "
	if strings.Contains(w.indent, "\t") {
		unit = "\t"
	}
	return w.indent + strings.Repeat(unit, indent)
}

// items returns the lines of the items of a sequence, each after a line break.
func (w *writer) items(items [][]Entry, indent int) string {
	var b strings.Builder
	for _, entries := range items {
		text := w.block(entries, indent+2)
		b.WriteString(w.ending + strings.Repeat(" ", indent) + "- " + text[len(w.ending)+indent+2:])
	}
	return b.String()
}

func (w *writer) braces(entries []Entry, indent int) string {
	if indent < 0 {
		return "{" + w.flow(entries, indent) + "}"
	}
	inner := indent + w.step
	return "{" + w.ending + w.at(inner) + w.flow(entries, inner) + w.ending + w.at(indent) + "}"
}

// listed returns mappings in a sequence on one line, without its brackets.
func (w *writer) listed(items [][]Entry) string {
	texts := make([]string, len(items))
	for i, entries := range items {
		texts[i] = w.braces(entries, -1)
	}
	return strings.Join(texts, ", ")
}

// number reports whether text is a number in JSON.
func number(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == "" && (text == "0" || text[0] != '0')
}
