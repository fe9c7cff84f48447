package main

import (
	"regexp"
	"strings"
)

// comments returns the text of comments that have lines of their own, which begin with mark.
func comments(source, mark string) []block {
	var found []block
	var lines []string
	for i, line := range strings.Split(source+"\n", "\n") {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
			lines = append(lines, strings.TrimPrefix(text, " "))
			continue
		}
		found = append(found, paragraphs(lines, i+1-len(lines))...)
		lines = nil
	}
	return found
}

// sentence matches a line of YAML whose value is text for users, such as the description of an alert.
var sentence = regexp.MustCompile(`^\s*(?:- )?(?:summary|description|message): (.* .*)$`)

// values returns the text that YAML has for users.
func values(source string) []block {
	var found []block
	for i, line := range strings.Split(source, "\n") {
		if value := sentence.FindStringSubmatch(line); value != nil {
			found = append(found, block{i + 1, strings.Trim(value[1], `"`)})
		}
	}
	return found
}
