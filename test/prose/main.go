package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: prose DIRECTORY FILE...\n\nWrites the string literals of each FILE to DIRECTORY/FILE.txt, on the lines they have in FILE.")
		os.Exit(2)
	}
	for _, name := range os.Args[2:] {
		if err := extract(name, filepath.Join(os.Args[1], name+".txt")); err != nil {
			fmt.Fprintln(os.Stderr, "prose:", err)
			os.Exit(1)
		}
	}
}

// extract writes the text in the Go file from to the file to, or writes no file if there is
// none.
func extract(from, to string) error {
	source, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	text, err := text(from, source)
	if err != nil || text == nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o666)
}

// text returns the string literals in source that contain a space, each starting on the line
// that it has in source, so that Vale reports that line. It returns nil if there are none.
// An error names the file and the line that cannot be parsed.
func text(name string, source []byte) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	line := 1
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		value, err := strconv.Unquote(literal.Value)
		if err != nil || !strings.Contains(value, " ") {
			return true
		}
		if literal.Value[0] == '"' {
			value = strings.ReplaceAll(value, "\n", " ")
		}
		start := files.Position(literal.Pos()).Line
		if start <= line && out.Len() > 0 {
			out.WriteByte(' ')
		}
		for ; line < start; line++ {
			out.WriteByte('\n')
		}
		out.WriteString(sentences(value))
		line += strings.Count(value, "\n")
		return true
	})
	if out.Len() == 0 {
		return nil, nil
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// sentences returns the text of a literal with a period where a sentence ends without one: at
// the end, before an empty line, and around indented lines, which are lists and examples. Vale
// would read on otherwise, also into the next literal.
func sentences(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		last := strings.TrimRight(line, " ")
		if last == "" || !strings.HasPrefix(line, "  ") && next != "" && !strings.HasPrefix(next, "  ") {
			continue
		}
		if !strings.ContainsRune(".:;,!?", rune(last[len(last)-1])) {
			lines[i] = last + "."
		}
	}
	return strings.Join(lines, "\n")
}
