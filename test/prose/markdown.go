package main

import (
	"regexp"
	"strings"
)

var (
	fence = regexp.MustCompile("^\\s*```")
	// alone matches lines that are not joined with the one above.
	alone = regexp.MustCompile(`^\s*($|#|\||>|<!--|([-*+]|\d+\.)\s)`)
)

// markdown returns a Markdown text with each paragraph and list item on the line where it
// starts. The markup stays, since Vale ignores code by it.
func markdown(source []byte) []byte {
	lines := strings.Split(string(source), "\n")
	fenced, indented := false, false // in a block of code
	to := -1                         // the line that the current paragraph is on, if there is one
	for i, line := range lines {
		after := i == 0 || lines[i-1] == "" && to < 0
		switch {
		case fence.MatchString(line):
			fenced, to = !fenced, -1
		case fenced:
		case line == "":
			to = -1
		case strings.HasPrefix(line, "    ") && (indented || after):
			indented = true
		case to >= 0 && !alone.MatchString(line):
			lines[to] += " " + strings.TrimSpace(line)
			lines[i] = ""
		default:
			indented, to = false, i
			if strings.ContainsAny(strings.TrimSpace(line)[:1], "#|<") {
				to = -1
			}
		}
	}
	return []byte(strings.Join(lines, "\n"))
}
