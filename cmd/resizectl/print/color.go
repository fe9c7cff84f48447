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

// Painter returns the painter for output to w.
func (m *ColorMode) Painter(w io.Writer) Painter {
	switch *m {
	case colorAlways:
		return Painter{on: true}
	case colorNever:
		return Painter{}
	}
	return Painter{on: printers.AllowsColorOutput(w)}
}

// Style is how text looks, as the parameter of an SGR sequence, which every terminal
// supports. The colors come from the user's own palette.
type Style string

const (
	Plain   Style = ""
	Dim     Style = "2"
	Red     Style = "31"
	Notable Style = "33" // Yellow: unusual, but no error.
	Freed   Style = "32" // Green: a node has more room.
	Added   Style = "33" // Yellow: a node has less room.
)

// Painter colors what is printed. The zero painter leaves it as it is.
type Painter struct{ on bool }

// Paint returns text in a style.
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

// Marked returns a cell with text in a style; Absent if there is none.
func Marked(text string, style Style) Cell {
	if text == "" {
		return Cell{Text: Absent}
	}
	return Cell{text, style}
}

// String returns the text that the table printer lays out.
func (c Cell) String() string { return c.Text }

// paintLine colors the cells in a line that is already laid out: sequences in the cells
// would count as text during the layout and shift the columns.
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
			// The printer escapes some characters: such a line stays plain from
			// here on.
			break
		}
		out.WriteString(before + p.Paint(s, text))
		line = after
	}
	return out.String() + line
}
