package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: prose DIRECTORY FILE...\n\nWrites the text of each FILE to DIRECTORY, with each paragraph on one line: the line where it starts in FILE.")
		os.Exit(2)
	}
	for _, name := range os.Args[2:] {
		if err := extract(name, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "prose:", err)
			os.Exit(1)
		}
	}
}

// extract writes the text of a file to a directory, with an extension that Vale reads, or
// writes no file if there is no text.
func extract(name, directory string) error {
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var text []byte
	to := filepath.Join(directory, name)
	switch filepath.Ext(name) {
	case ".md":
		text = markdown(source)
	case ".go":
		found, err := goText(name, source)
		if err != nil {
			return err
		}
		text, to = onLines(found), to+".txt"
	case ".proto":
		text, to = onLines(comments(source, "//")), to+".txt"
	default:
		text, to = onLines(comments(source, "#")), to+".txt"
	}
	if len(text) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o666)
}

// A paragraph is text without line breaks.
type paragraph struct {
	line int // where it starts in its file, from 1
	text string
}

// onLines joins paragraphs, each on the line that it has in its file, so that Vale reports that
// line. The paragraphs are in the order of their lines.
func onLines(paragraphs []paragraph) []byte {
	var out bytes.Buffer
	line := 1
	for _, p := range paragraphs {
		if out.Len() > 0 && p.line <= line {
			out.WriteByte(' ')
		}
		for ; line < p.line; line++ {
			out.WriteByte('\n')
		}
		out.WriteString(ended(p.text))
	}
	if out.Len() > 0 {
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// ended returns text with an end that Vale recognizes: it would otherwise read on into the next
// paragraph, even after a period, which can be part of a number or of an abbreviation.
func ended(text string) string {
	if !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	return text + " !"
}
