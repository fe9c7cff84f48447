package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// change identifies a mutant, even if its line moves.
type change struct {
	// file is relative to the module's root.
	file string
	// function is the enclosing function, as "name" or "Type.name"; "" outside of functions.
	function string
	// was and is are the line in the code and in the mutant, without indentation.
	was, is string
}

func (c change) String() string {
	return fmt.Sprintf("%s\n- %s\n+ %s\n", strings.TrimSpace(c.file+" "+c.function), c.was, c.is)
}

// mutant is a change, and the result of the tests.
type mutant struct {
	change
	line   int
	status string
}

// The statuses of mutants in gremlins' output.
const (
	statusKilled    = "KILLED"
	statusLived     = "LIVED"
	statusTimedOut  = "TIMED OUT"
	statusNotViable = "NOT VIABLE"
)

// operators maps gremlins' names of changes to operators and their replacements.
var operators = map[string]map[string]string{
	"ARITHMETIC_BASE":         {"+": "-", "*": "/", "/": "*", "%": "*", "-": "+"},
	"CONDITIONALS_BOUNDARY":   {">=": ">", ">": ">=", "<=": "<", "<": "<="},
	"CONDITIONALS_NEGATION":   {"==": "!=", ">=": "<", ">": "<=", "<=": ">", "<": ">=", "!=": "=="},
	"INCREMENT_DECREMENT":     {"--": "++", "++": "--"},
	"INVERT_ASSIGNMENTS":      {"+=": "-=", "*=": "/=", "/=": "*=", "%=": "%=", "-=": "+="},
	"INVERT_BITWISE":          {"&": "|", "|": "&", "^": "&", "&^": "&", "<<": ">>", ">>": "<<"},
	"INVERT_BWASSIGN":         {"&=": "|=", "|=": "&=", "^=": "&=", "&^=": "&=", "<<=": ">>=", ">>=": "<<="},
	"INVERT_LOGICAL":          {"&&": "||", "||": "&&"},
	"INVERT_LOOPCTRL":         {"break": "continue", "continue": "break"},
	"REMOVE_SELF_ASSIGNMENTS": {"+=": "=", "&=": "=", "&^=": "=", "*=": "=", "|=": "=", "/=": "=", "%=": "=", "<<=": "=", ">>=": "=", "-=": "=", "^=": "="},
}

// readMutants reads gremlins' output for the package in a folder of a module.
func readMutants(output, module, folder string) (all []mutant, err error) {
	content, err := os.ReadFile(output)
	if err != nil {
		return nil, err
	}
	var report struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type, Status string
				Line, Column int
			}
		}
	}
	if err := json.Unmarshal(content, &report); err != nil {
		return nil, fmt.Errorf("parse the output of gremlins: %w", err)
	}
	for _, file := range report.Files {
		name := filepath.Join(folder, file.Name)
		source, err := readSource(filepath.Join(module, name))
		if err != nil {
			return nil, err
		}
		for _, m := range file.Mutations {
			was, is, err := source.mutated(m.Type, m.Line, m.Column)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, m.Line, err)
			}
			all = append(all, mutant{change{name, source.function(m.Line), was, is}, m.Line, m.Status})
		}
	}
	return all, nil
}

type source struct {
	lines []string
	set   *token.FileSet
	file  *ast.File
}

func readSource(name string) (source, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return source{}, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	return source{strings.Split(string(text), "\n"), set, file}, err
}

// mutated returns a line unchanged, and with the operator at a column replaced.
func (s source) mutated(kind string, line, column int) (was, is string, err error) {
	text := s.lines[line-1]
	before, rest := text[:column-1], text[column-1:]
	longest := ""
	for operator := range operators[kind] {
		if strings.HasPrefix(rest, operator) && len(operator) > len(longest) {
			longest = operator
		}
	}
	if longest == "" {
		return "", "", fmt.Errorf("no operator for %s in %q", kind, rest)
	}
	return strings.TrimSpace(text), strings.TrimSpace(before + operators[kind][longest] + rest[len(longest):]), nil
}

// function returns the name of the function that contains a line.
func (s source) function(line int) string {
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || line < s.set.Position(f.Pos()).Line || line > s.set.Position(f.End()).Line {
			continue
		}
		if f.Recv == nil {
			return f.Name.Name
		}
		receiver := f.Recv.List[0].Type
		if pointer, ok := receiver.(*ast.StarExpr); ok {
			receiver = pointer.X
		}
		if generic, ok := receiver.(*ast.IndexExpr); ok {
			receiver = generic.X
		}
		return receiver.(*ast.Ident).Name + "." + f.Name.Name
	}
	return ""
}
