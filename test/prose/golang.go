package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// golang returns the comments of a Go file, and its string literals of several words.
// Literals of tests are not text: they quote what is tested. An error names the file and the
// line that cannot be parsed.
func golang(name string, source []byte) ([]block, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []block
	for _, c := range file.Comments {
		found = append(found, paragraphs(strings.Split(c.Text(), "\n"), files.Position(c.Pos()).Line)...)
	}
	if strings.HasSuffix(name, "_test.go") {
		return found, nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, raw, ok := literal(e)
		if !ok {
			return true
		}
		line := files.Position(e.Pos()).Line
		switch {
		case len(strings.Fields(text)) < 2:
		case raw:
			found = append(found, paragraphs(strings.Split(text, "\n"), line)...)
		default:
			found = append(found, paragraphs([]string{strings.Join(strings.Fields(text), " ")}, line)...)
		}
		return false
	})
	return found, nil
}

// literal returns the value of a string literal, or of several that are joined by "+", and
// whether it spans the lines of the source.
func literal(e ast.Expr) (text string, raw, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false, false
		}
		text, err := strconv.Unquote(e.Value)
		return text, e.Value[0] == '`', err == nil
	case *ast.BinaryExpr:
		left, _, ok := literal(e.X)
		if !ok || e.Op != token.ADD {
			return "", false, false
		}
		right, _, ok := literal(e.Y)
		return left + right, false, ok
	}
	return "", false, false
}
