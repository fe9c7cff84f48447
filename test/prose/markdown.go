package main

import (
	"regexp"
	"strings"
)

// apart matches lines of Markdown that do not continue a paragraph: empty lines, headings,
// tables and HTML comments. item matches the start of an item of a list.
var (
	apart = regexp.MustCompile(`^(#|\||<!--|\s*$)`)
	item  = regexp.MustCompile(`^\s*([-*]|\d+\.) `)
)

// markdown returns the text with each paragraph and each item of a list on the line where it
// starts. Everything else stays on its line.
func markdown(text string) string {
	lines := strings.Split(text, "\n")
	paragraph := -1 // The line of the paragraph that is being read.
	code := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			code = !code
		}
		switch {
		case fence || code || apart.MatchString(line):
			paragraph = -1
		case item.MatchString(line):
			paragraph = i
		case paragraph >= 0:
			lines[paragraph] += " " + strings.TrimSpace(line)
			lines[i] = ""
		case !strings.HasPrefix(line, "    "): // Otherwise, it is code.
			paragraph = i
		}
	}
	return strings.Join(lines, "\n")
}
