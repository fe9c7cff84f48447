package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// TestMentions checks each command of resizectl that is mentioned in quotes, as code, or on a line of its
// own: in the documentation, in alerts, and in what the programs print. test/e2e runs those of the runbooks and
// of the remedies.
func TestMentions(t *testing.T) {
	seen := 0
	for name, text := range mentioningTexts(t) {
		for _, m := range slices.Concat(mention.FindAllStringSubmatch(text, -1), line.FindAllStringSubmatch(text, -1)) {
			seen++
			if err := understood(strings.Join(strings.Fields(m[1]), " ")); err != nil {
				t.Errorf("%s: resizectl %s: %v", name, m[1], err)
			}
		}
	}
	if seen < 400 {
		t.Errorf("only %d commands were found", seen)
	}
}

// mention matches a command in backticks or quotes, which can be in a string with escapes.
var mention = regexp.MustCompile("[`\"](?:bin/)?(?:resizectl|kubectl workload-resizer) ([^`\"\\\\%]+)")

// line matches a line that consists of a command: in a block of code, in an example of the help, or in
// the notes of the chart. It ends before another command, a comment, and what a template fills in.
var line = regexp.MustCompile(`(?m)^(?:\$ | {2,})(?:bin/)?(?:resizectl|kubectl workload-resizer) ([^|#{\n]+?)(?: \|\|? .*| #.*)?$`)

// mentioningTexts returns the texts by the names of their files.
func mentioningTexts(t *testing.T) map[string]string {
	t.Helper()
	const root = "../.."
	texts := map[string]string{}
	if err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"bin", "dist", "test", "testdata", "proto", "node_modules"}, name)) {
				return fs.SkipDir
			}
			return nil
		}
		switch filepath.Ext(path) {
		case ".md", ".yaml", ".txt", ".tpl":
			text, err := os.ReadFile(path)
			texts[path] = string(text)
			return err
		case ".go":
			if strings.HasSuffix(path, "_test.go") {
				return nil
			}
			return literals(path, texts)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return texts
}

// literals adds the string literals of a Go file.
func literals(path string, texts map[string]string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	var b strings.Builder
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				b.WriteString(text + "\n")
			}
		}
		return true
	})
	texts[path] = b.String()
	return nil
}

// understood returns an error if there is no such command, or if it does not have such a flag.
func understood(line string) error {
	words := strings.Fields(alone(line))
	if len(words) == 0 || slices.Contains(words, "COMMAND") || slices.Contains(words, "[command]") || slices.Contains(words, "[flags]") {
		return nil // Any command, or how to use one.
	}
	root := newRootCommand(genericiooptions.NewTestIOStreamsDiscard(), new(print.ColorMode), false)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if cmd == root && !strings.HasPrefix(words[0], "-") || cmd.HasSubCommands() && !takesArguments(cmd) && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && cmd.Name() != "help" {
		return errors.New("there is no such command")
	}
	// A flag at the end may lack its value: the text is about the flag.
	if n := len(rest); n > 0 && strings.HasPrefix(rest[n-1], "-") {
		rest = append(rest, "value")
	}
	if err := cmd.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) && !strings.Contains(err.Error(), "invalid argument") {
		return err
	}
	return nil
}
