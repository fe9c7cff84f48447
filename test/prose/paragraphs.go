package main

import (
	"regexp"
	"strings"
)

var (
	item = regexp.MustCompile(`^\s*([-*]|\d+\.)\s`)
	code = regexp.MustCompile("`[^`]*`")
)

// paragraphs joins the lines of plain text, the first of which is on a line of a file. An empty
// line ends a paragraph, and a list item starts one. Other indented lines are tables, examples
// and code: each is a paragraph of its own.
func paragraphs(line int, lines []string) []paragraph {
	var found []paragraph
	open, list := false, false
	for i, text := range lines {
		indented := strings.HasPrefix(text, "  ") || strings.HasPrefix(text, "\t")
		starts := item.MatchString(text)
		words := strings.Join(strings.Fields(code.ReplaceAllString(text, "…")), " ")
		switch {
		case words == "":
			open, list = false, false
		case open && !starts && (list || !indented):
			found[len(found)-1].text += " " + words
		default:
			found = append(found, paragraph{line + i, words})
			open, list = starts || !indented, starts
		}
	}
	return found
}

// comments returns the text of comments that start with a marker, each on lines of its own.
func comments(source []byte, marker string) []paragraph {
	var found []paragraph
	var block []string
	lines := strings.Split(string(source), "\n")
	for i, line := range append(lines, "") {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), marker)
		if ok {
			block = append(block, strings.TrimPrefix(text, " "))
			continue
		}
		found = append(found, prose(i+1-len(block), block)...)
		block = nil
	}
	return found
}

// prose returns the paragraphs of a comment without its indented lines, which are code.
func prose(line int, lines []string) []paragraph {
	list := false
	for i, text := range lines {
		switch {
		case item.MatchString(text):
			list = true
		case strings.TrimSpace(text) == "":
			list = false
		case !list && (strings.HasPrefix(text, "  ") || strings.HasPrefix(text, "\t")):
			lines[i] = ""
		}
	}
	return paragraphs(line, lines)
}
