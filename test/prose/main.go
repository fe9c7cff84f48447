package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: prose DIRECTORY FILE...\n\nWrites the text of each FILE below DIRECTORY, on the lines where it starts in FILE.")
		os.Exit(2)
	}
	for _, name := range os.Args[2:] {
		if err := extract(name, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "prose:", err)
			os.Exit(1)
		}
	}
}

// extract writes the text in a file to the same path below dir, with the suffix .txt unless it
// is Markdown. It writes no file if there is no text.
func extract(name, dir string) error {
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, name)
	var text string
	if filepath.Ext(name) == ".md" {
		text = markdown(string(source))
	} else {
		blocks, err := blocksOf(name, source)
		if err != nil {
			return err
		}
		text, to = lay(blocks), to+".txt"
	}
	if text == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(text), 0o666)
}

// blocksOf returns the text in a file that is not Markdown.
func blocksOf(name string, source []byte) ([]block, error) {
	switch filepath.Ext(name) {
	case ".go":
		return golang(name, source)
	case ".proto":
		return comments(string(source), "//"), nil
	case ".yaml":
		return append(comments(string(source), "#"), values(string(source))...), nil
	}
	return paragraphs(strings.Split(string(source), "\n"), 1), nil
}
