package pictures

import (
	"fmt"
	"html"
	"strings"
)

// speed is a node type with what a pod requests there, in millicores.
type speed struct {
	nodeType      string
	before, after int64
	as            string
}

// The columns of the picture of requests, and the height of a row, in pixels.
const (
	typeColumn, beforeColumn, afterColumn = 20, 90, 410
	barWidth, barHeight, rowHeight        = 200, 22, 46
)

// requests returns an SVG image of what a pod requests on node types, before it is resized and after.
func requests(title string, speeds []speed) string {
	var longest int64
	for _, s := range speeds {
		longest = max(longest, s.before, s.after)
	}
	width, height := afterColumn+barWidth+100, 70+rowHeight*len(speeds)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="14">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<title>%s</title>`+"\n", html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#1e1e2e"/>`+"\n", width, height)
	text := func(x, y int, color, text string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", x, y, color, html.EscapeString(text))
	}
	bar := func(x, y int, color string, amount int64, as string) {
		length := int(amount * barWidth / longest)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="3" fill="%s"/>`+"\n", x, y, length, barHeight, color)
		text(x+length+8, y+16, "#cdd6f4", as)
	}
	text(beforeColumn, 36, "#cdd6f4", "before: as written")
	text(afterColumn, 36, "#cdd6f4", "after: for the node")
	for i, s := range speeds {
		y := 56 + i*rowHeight
		text(typeColumn, y+16, "#a6e3a1", s.nodeType)
		bar(beforeColumn, y, "#6c7086", s.before, fmt.Sprintf("%dm", s.before))
		bar(afterColumn, y, "#89b4fa", s.after, fmt.Sprintf("%dm  %s", s.after, s.as))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
