package pictures

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// The size of a character of the terminal, and its margins, in pixels.
const (
	charWidth, lineHeight = 7.8, 18
	terminalMargin        = 16
	titleHeight           = 32
)

// terminal returns an SVG image of a terminal with lines of text. Those that begin with "$ " are
// commands.
func terminal(title string, lines []string) string {
	longest := 0
	for _, line := range lines {
		longest = max(longest, utf8.RuneCountInString(line))
	}
	width := int(float64(longest)*charWidth) + 2*terminalMargin
	height := len(lines)*lineHeight + titleHeight + terminalMargin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="13">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<title>%s</title>`+"\n", html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#1e1e2e"/>`+"\n", width, height)
	for i, color := range []string{"#f38ba8", "#f9e2af", "#a6e3a1"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="16" r="6" fill="%s"/>`+"\n", terminalMargin+6+i*20, color)
	}
	for i, line := range lines {
		color := "#cdd6f4"
		if strings.HasPrefix(line, "$ ") {
			color = "#a6e3a1"
		}
		// The width of each line is given, since fonts differ and columns must be aligned.
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s" xml:space="preserve" textLength="%.1f">%s</text>`+"\n",
			terminalMargin, titleHeight+13+i*lineHeight, color, float64(utf8.RuneCountInString(line))*charWidth, html.EscapeString(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
