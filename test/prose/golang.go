package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// longestName is the length in bytes up to which a literal can be the name of a test.
const longestName = 100

// goText returns the text of a Go file: its comments, and its string literals that contain a
// space. In a test, literals are left out if they are longer than the name of a test: they are
// input or output. An error names the file and the line that cannot be parsed.
func goText(name string, source []byte) ([]paragraph, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var found []paragraph
	for _, group := range file.Comments {
		found = append(found, goComment(files.Position(group.Pos()).Line, group)...)
	}
	test := strings.HasSuffix(name, "_test.go")
	operands := map[ast.Expr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || operands[e] {
			return true
		}
		text, ok := literal(e, operands)
		if ok && strings.Contains(text, " ") && (!test || len(text) <= longestName) {
			found = append(found, goLiteral(files.Position(e.Pos()).Line, e, text)...)
		}
		return true
	})
	slices.SortStableFunc(found, func(a, b paragraph) int { return a.line - b.line })
	return found, nil
}

// goComment returns the paragraphs of a comment without directives.
func goComment(line int, group *ast.CommentGroup) []paragraph {
	var lines []string
	for _, c := range group.List {
		text, ok := strings.CutPrefix(c.Text, "//")
		if !ok {
			lines = append(lines, strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/"), "\n")...)
			continue
		}
		if text != "" && text[0] != ' ' && text[0] != '\t' {
			text = "" // a directive
		}
		lines = append(lines, strings.TrimPrefix(text, " "))
	}
	return prose(line, lines)
}

// literal returns the text of a string literal, or of literals that are added, with "…" in place
// of the other values. It adds what it has read to operands.
func literal(e ast.Expr, operands map[ast.Expr]bool) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "…", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "…", false
		}
		operands[e.X], operands[e.Y] = true, true
		left, leftOK := literal(e.X, operands)
		right, rightOK := literal(e.Y, operands)
		return left + right, leftOK || rightOK
	}
	return "…", false
}

// goLiteral returns the paragraphs of a literal. Those of a raw literal are on their own lines.
func goLiteral(line int, e ast.Expr, text string) []paragraph {
	found := paragraphs(line, strings.Split(text, "\n"))
	if l, ok := e.(*ast.BasicLit); !ok || l.Value[0] != '`' {
		for i := range found {
			found[i].line = line
		}
	}
	return found
}
