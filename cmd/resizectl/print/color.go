package print

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// ColorMode is a value of --color.
type ColorMode string

const (
	ColorAuto   ColorMode = "auto"
	colorAlways ColorMode = "always"
	colorNever  ColorMode = "never"
)

// ColorModes are the values of --color.
var ColorModes = []string{string(ColorAuto), string(colorAlways), string(colorNever)}

// Painter is that for what is written to w.
func (m *ColorMode) Painter(w io.Writer) Painter {
	switch *m {
	case colorAlways:
		return Painter{on: true}
	case colorNever:
		return Painter{}
	}
	return Painter{on: printers.AllowsColorOutput(w)}
}

// Style is how a text looks, as the parameter of an SGR sequence, which every
// terminal knows. The colours are those of the person's own palette.
type Style string

const (
	Plain   Style = ""
	Dim     Style = "2"
	Red     Style = "31"
	Notable Style = "33" // Yellow: unusual, and no error.
	Freed   Style = "32" // Green: a node has more room.
	Added   Style = "33" // Yellow: a node has less room.
)

// Painter colours what is printed. The zero painter leaves it as it is.
type Painter struct{ on bool }

// Paint is a text in a style.
func (p Painter) Paint(s Style, text string) string {
	if !p.on || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Cell is a cell of a table with its style.
type Cell struct {
	Text  string
	Style Style
}

// String is what the table printer lays out.
func (c Cell) String() string { return c.Text }

// paintLine colours the cells in a line that is laid out already: sequences in the
// cells would count as text there and shift the columns.
func (p Painter) paintLine(line string, cells []any) string {
	var out strings.Builder
	for _, cell := range cells {
		text, s := fmt.Sprint(cell), Plain
		if c, ok := cell.(Cell); ok {
			s = c.Style
		}
		text = strings.TrimSpace(text)
		before, after, ok := strings.Cut(line, text)
		if !ok || strings.TrimSpace(before) != "" {
			// The printer writes some characters in another way: such a line
			// stays plain from here on.
			break
		}
		out.WriteString(before + p.Paint(s, text))
		line = after
	}
	return out.String() + line
}
