package main

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// colorMode is a value of --color.
type colorMode string

const (
	colorAuto   colorMode = "auto"
	colorAlways colorMode = "always"
	colorNever  colorMode = "never"
)

var colorModes = []string{string(colorAuto), string(colorAlways), string(colorNever)}

// painter is that for what is written to w.
func (m *colorMode) painter(w io.Writer) painter {
	switch *m {
	case colorAlways:
		return painter{on: true}
	case colorNever:
		return painter{}
	}
	return painter{on: printers.AllowsColorOutput(w)}
}

// style is how a text looks, as the parameter of an SGR sequence, which every
// terminal knows. The colours are those of the person's own palette.
type style string

const (
	plain   style = ""
	dim     style = "2"
	red     style = "31"
	notable style = "33" // Yellow: unusual, and no error.
	freed   style = "32" // Green: a node has more room.
	added   style = "33" // Yellow: a node has less room.
)

// painter colours what is printed. The zero painter leaves it as it is.
type painter struct{ on bool }

func (p painter) paint(s style, text string) string {
	if !p.on || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// painted is a cell of a table with its style.
type painted struct {
	text  string
	style style
}

// String is what the table printer lays out.
func (c painted) String() string { return c.text }

// paintLine colours the cells in a line that is laid out already: sequences in the
// cells would count as text there and shift the columns.
func (p painter) paintLine(line string, cells []any) string {
	var out strings.Builder
	for _, cell := range cells {
		text, s := fmt.Sprint(cell), plain
		if c, ok := cell.(painted); ok {
			s = c.style
		}
		text = strings.TrimSpace(text)
		before, after, ok := strings.Cut(line, text)
		if !ok || strings.TrimSpace(before) != "" {
			// The printer writes some characters in another way: such a line
			// stays plain from here on.
			break
		}
		out.WriteString(before + p.paint(s, text))
		line = after
	}
	return out.String() + line
}
