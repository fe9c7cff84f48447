package main

import (
	"cmp"
	"slices"
	"strings"
)

// block is text without line breaks: a paragraph, or a line of a list or an example.
type block struct {
	// line is the line of the source that the text starts on.
	line int
	text string
}

// paragraphs returns the text of lines, of which the first has the given number. Indented
// lines, which are lists and examples, and items of lists stay separate.
func paragraphs(lines []string, first int) []block {
	var found []block
	open := false // Whether the next line continues the last block.
	for i, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
			open = false
		case strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t"):
			found = append(found, block{first + i, text})
			open = false
		case open && !strings.HasPrefix(text, "- "):
			found[len(found)-1].text += " " + text
		default:
			found = append(found, block{first + i, text})
			open = true
		}
	}
	return found
}

// lay returns the text of blocks, each on its line, so that Vale reports that line. Each ends
// like a sentence: Vale would read on otherwise, into the next block.
func lay(blocks []block) string {
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(a.line, b.line) })
	var out strings.Builder
	line := 1
	for _, b := range blocks {
		if b.line <= line && out.Len() > 0 {
			out.WriteByte(' ')
		}
		for ; line < b.line; line++ {
			out.WriteByte('\n')
		}
		out.WriteString(b.text)
		if !strings.ContainsRune(".!?", rune(b.text[len(b.text)-1])) {
			out.WriteByte('.')
		}
	}
	if out.Len() > 0 {
		out.WriteByte('\n')
	}
	return out.String()
}
