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

// change is what a mutant is told by, wherever its line moves to.
type change struct {
	// file is relative to the module's root.
	file string
	// function is the one around it, as "name" or "Type.name"; "" outside of functions.
	function string
	// was and is are its line in the code and in the mutant, without indentation.
	was, is string
}

func (c change) String() string {
	return fmt.Sprintf("%s\n- %s\n+ %s\n", strings.TrimSpace(c.file+" "+c.function), c.was, c.is)
}

// mutant is a change, and how the tests took it.
type mutant struct {
	change
	line   int
	status string
}

// What gremlins says of mutants.
const (
	statusKilled    = "KILLED"
	statusLived     = "LIVED"
	statusTimedOut  = "TIMED OUT"
	statusNotViable = "NOT VIABLE"
)

// operators are what an operator becomes, by gremlins' name of the change.
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
		return nil, fmt.Errorf("understand what gremlins has written: %w", err)
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

// mutated is a line as it is, and with the operator at a column changed.
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
		return "", "", fmt.Errorf("%s of %q", kind, rest)
	}
	return strings.TrimSpace(text), strings.TrimSpace(before + operators[kind][longest] + rest[len(longest):]), nil
}

// function names the function that a line is of.
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
