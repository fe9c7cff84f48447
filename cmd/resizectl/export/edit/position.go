package edit

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// span is text[from:to].
type span struct{ from, to int }

var errUnclear = errors.New("its place in the text is unclear")

// offset returns where a node starts, with its anchor and tag.
func (p *part) offset(n *yaml.Node) (int, error) {
	if n.Line < 1 || n.Line > len(p.starts) {
		return 0, errUnclear
	}
	at := p.starts[n.Line-1]
	for range n.Column - 1 { // Columns are characters.
		if at >= len(p.text) {
			return 0, errUnclear
		}
		_, size := utf8.DecodeRune(p.text[at:])
		at += size
	}
	return at, nil
}

// value returns where a node starts, without its anchor and tag.
func (p *part) value(n *yaml.Node) (int, error) {
	at, err := p.offset(n)
	if err != nil {
		return 0, err
	}
	for at < len(p.text) && (p.text[at] == '&' || p.text[at] == '!') {
		for at < len(p.text) && !blank(p.text[at]) {
			at++
		}
		for at < len(p.text) && (p.text[at] == ' ' || p.text[at] == '\t') {
			at++
		}
	}
	return at, nil
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// scalar returns the bytes of a scalar on one line, without its quotes, anchor and tag.
func (p *part) scalar(n *yaml.Node) (span, error) {
	at, err := p.value(n)
	if err != nil {
		return span{}, err
	}
	if n.Kind != yaml.ScalarNode || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return span{}, errors.New("it is not text on one line")
	}
	quote := byte(0)
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		quote = '"'
	case n.Style&yaml.SingleQuotedStyle != 0:
		quote = '\''
	}
	if quote != 0 {
		if at >= len(p.text) || p.text[at] != quote {
			return span{}, errUnclear
		}
		at++
	}
	to := at + len(n.Value)
	switch {
	case n.Value == "" && quote == 0:
		return span{}, errUnclear
	case !bytes.HasPrefix(p.text[min(at, len(p.text)):], []byte(n.Value)):
		return span{}, errUnclear // It has escapes, or continues on the next line.
	case quote != 0 && (to >= len(p.text) || p.text[to] != quote):
		return span{}, errUnclear
	}
	return span{at, to}, nil
}

// end returns where a node in a flow mapping or sequence ends.
func (p *part) end(n *yaml.Node) (int, error) {
	at, err := p.value(n)
	if err != nil {
		return 0, err
	}
	switch n.Kind {
	case yaml.AliasNode:
		return at + 1 + len(n.Value), nil
	case yaml.ScalarNode:
		return p.scalarEnd(n, at)
	}
	if n.Style&yaml.FlowStyle == 0 || at >= len(p.text) {
		return 0, errUnclear
	}
	at++
	if len(n.Content) > 0 {
		if at, err = p.end(n.Content[len(n.Content)-1]); err != nil {
			return 0, err
		}
	}
	at = p.skip(at, ",")
	if at >= len(p.text) || p.text[at] != '}' && p.text[at] != ']' {
		return 0, errUnclear
	}
	return at + 1, nil
}

// scalarEnd returns where a scalar ends whose value starts at a place. It may have several lines in quotes.
func (p *part) scalarEnd(n *yaml.Node, at int) (int, error) {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for at++; at < len(p.text) && p.text[at] != '"'; at++ {
			if p.text[at] == '\\' {
				at++
			}
		}
		return at + 1, nil
	case n.Style&yaml.SingleQuotedStyle != 0:
		for at++; at < len(p.text); at++ {
			if p.text[at] != '\'' {
				continue
			}
			if at+1 >= len(p.text) || p.text[at+1] != '\'' {
				break
			}
			at++
		}
		return at + 1, nil
	}
	s, err := p.scalar(n)
	return s.to, err
}

// skip returns the place after white space, comments, and the given characters.
func (p *part) skip(at int, more string) int {
	for at < len(p.text) {
		switch c := p.text[at]; {
		case blank(c), bytes.IndexByte([]byte(more), c) >= 0:
			at++
		case c == '#' && at > 0 && blank(p.text[at-1]):
			for at < len(p.text) && lineBreak(p.text[at:]) == 0 {
				at++
			}
		default:
			return at
		}
	}
	return at
}

// lineEnd returns where a line ends, without its line break.
func (p *part) lineEnd(line int) int {
	to := len(p.text)
	if line < len(p.starts) {
		to = p.starts[line]
		for _, ending := range [...]string{"\r\n", "\n", "\r", "\u0085", "\u2028", "\u2029"} {
			if bytes.HasSuffix(p.text[:to], []byte(ending)) {
				return to - len(ending)
			}
		}
	}
	return to
}

// lineText returns a line without its line break.
func (p *part) lineText(line int) []byte { return p.text[p.starts[line-1]:p.lineEnd(line)] }

// lineEnding returns the line break of a line, or else that of the first line that has one.
func (p *part) lineEnding(line int) string {
	for _, of := range [...]int{line, 1} {
		if of < len(p.starts) {
			return string(p.text[p.lineEnd(of):p.starts[of]])
		}
	}
	return "\n"
}

// after returns the line of the first node after another one and all in it; 0 if none follows.
func (d *Document) after(n *yaml.Node) int {
	if d.last == nil {
		d.last = map[*yaml.Node]int{}
		d.index(d.Root)
	}
	if next := d.last[n] + 1; next < len(d.lines) {
		return d.lines[next]
	}
	return 0
}

func (d *Document) index(n *yaml.Node) {
	d.lines = append(d.lines, n.Line)
	for _, inner := range n.Content {
		d.index(inner)
	}
	d.last[n] = len(d.lines) - 1
}

// lastLine returns the last line of a node in block style, without the comments and empty lines after it.
func (d *Document) lastLine(n *yaml.Node) int {
	p, line := d.in, d.after(n)-1
	if line < 0 {
		line = len(p.starts)
	}
	for ; line > n.Line; line-- {
		text := bytes.TrimSpace(p.lineText(line))
		if len(text) > 0 && text[0] != '#' && !bytes.Equal(text, []byte("...")) {
			break
		}
	}
	return line
}
