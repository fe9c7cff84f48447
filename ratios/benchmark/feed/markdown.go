package feed

import (
	"bufio"
	"bytes"
	"regexp"
	"strings"
)

// isMarkdown reports whether a feed is Markdown: it begins with a heading or the row of a table.
func isMarkdown(in *bufio.Reader) bool {
	head, _ := in.Peek(headSize)
	for line := range bytes.Lines(head) {
		if markdownRow(bytes.TrimSpace(line)) != nil {
			return true
		}
	}
	return false
}

// markdown reads the tables of a Markdown document, all of which have the same columns. Lines
// that are not in a table are not rows.
func markdown(in *bufio.Reader, needed []string, take func(line int, r record, fault *Fault)) error {
	var names []string
	return rowsOf(in, needed, func(text []byte) ([]string, *Fault) {
		values := markdownRow(bytes.TrimSpace(text))
		if values == nil || isRule(values) || sameValues(values, names) {
			return nil, nil
		}
		if names == nil {
			names = values
		}
		return values, nil
	}, take)
}

// markdownRow returns the values of a row such as "| a | 1,234 |"; nil if text is not one.
func markdownRow(text []byte) []string {
	inner, opened := bytes.CutPrefix(text, []byte("|"))
	inner, closed := bytes.CutSuffix(inner, []byte("|"))
	if !opened || !closed {
		return nil
	}
	values := strings.Split(string(inner), "|")
	for i := range values {
		values[i] = strings.TrimSpace(values[i])
	}
	return values
}

var rule = regexp.MustCompile(`^:?-+:?$`)

// isRule reports whether values are the line below the names of columns.
func isRule(values []string) bool {
	for _, v := range values {
		if !rule.MatchString(v) {
			return false
		}
	}
	return true
}

// sameValues reports whether a row repeats the names of columns, as each table does.
func sameValues(values, names []string) bool {
	return names != nil && strings.EqualFold(strings.Join(values, "|"), strings.Join(names, "|"))
}
