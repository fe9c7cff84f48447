package docpage

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "write the generated parts of the documentation instead of comparing them")

// end follows each generated part.
const end = "<!-- end -->\n"

// path returns the path of a file of the repository.
func path(t testing.TB, name string) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "CONTRIBUTING.md")); err == nil {
			return filepath.Join(root, name)
		}
		if root == filepath.Dir(root) {
			t.Fatalf("no folder above has %s", name)
		}
		root = filepath.Dir(root)
	}
}

// Read returns the text of a page, by its path in the repository.
func Read(t testing.TB, page string) string {
	t.Helper()
	content, err := os.ReadFile(path(t, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Line returns the text of a page with each run of spaces and line breaks as one space.
func Line(t testing.TB, page string) string {
	t.Helper()
	return strings.Join(strings.Fields(Read(t, page)), " ")
}

// Section returns what a page has below a heading such as "## Guard".
func Section(t testing.TB, page, heading string) string {
	t.Helper()
	level, _, _ := strings.Cut(heading, " ")
	_, section, found := strings.Cut(Read(t, page), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %q", page, heading)
	}
	section, _, _ = strings.Cut(section, "\n"+level+" ")
	return section
}

// Blocks returns the code blocks of a language in the text.
func Blocks(text, language string) []string {
	var all []string
	for _, block := range regexp.MustCompile("(?sm)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		all = append(all, block[1])
	}
	return all
}

// Generated compares the generated parts of a page with what they must be, by name, or writes them.
func Generated(t testing.TB, page string, parts map[string]string) {
	t.Helper()
	content := Read(t, page)
	want := content
	for name, part := range parts {
		begin := "<!-- generated: " + name + " -->\n"
		before, rest, found := strings.Cut(want, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no place for the generated part %q", page, name)
		}
		want = before + begin + part + end + after
	}
	write(t, page, content, want)
}

func write(t testing.TB, page, content, want string) {
	t.Helper()
	switch {
	case content == want:
	case *update:
		if err := os.WriteFile(path(t, page), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is out of date, run make generate", page)
	}
}

// Table returns a table with these columns. Each row has a cell per column.
func Table(columns []string, rows ...[]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, row := range rows {
		b.WriteString("|")
		for _, cell := range row {
			if cell != "" {
				b.WriteString(" " + cell)
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Count returns a number with a comma between thousands.
func Count(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Anchor returns the anchor of a heading, as GitHub makes it.
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// Comment is a constant or a field, and what its comment says.
type Comment struct{ Name, Text string }

// Comments returns the constants of a Go file in the package of the test whose comments begin with their names. The
// text lacks the name and the word after it, as in "Skip is …" or "Throttled means that …".
func Comments(t testing.TB, file string) []Comment {
	t.Helper()
	return comments(t, file, func(n ast.Node) (names []*ast.Ident, doc *ast.CommentGroup, inside bool) {
		switch n := n.(type) {
		case *ast.GenDecl:
			return nil, nil, n.Tok == token.CONST
		case *ast.ValueSpec:
			return n.Names, n.Doc, false
		}
		return nil, nil, true
	})
}

// Fields is like Comments, for the fields of structs.
func Fields(t testing.TB, file string) []Comment {
	t.Helper()
	return comments(t, file, func(n ast.Node) (names []*ast.Ident, doc *ast.CommentGroup, inside bool) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return nil, nil, false
		case *ast.Field:
			return n.Names, n.Doc, false
		}
		return nil, nil, true
	})
}

// comments returns what commented returns for the declarations of a file. If it returns true, those inside count, too.
func comments(t testing.TB, file string, commented func(ast.Node) ([]*ast.Ident, *ast.CommentGroup, bool)) (all []Comment) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		names, doc, inside := commented(n)
		if len(names) == 0 {
			return inside
		}
		text, found := strings.CutPrefix(strings.Join(strings.Fields(doc.Text()), " "), names[0].Name)
		if !found {
			return inside
		}
		for _, verb := range []string{" is ", " means that ", ": "} {
			text = strings.TrimPrefix(text, verb)
		}
		all = append(all, Comment{names[0].Name, strings.TrimSuffix(text, ".")})
		return inside
	})
	return all
}
