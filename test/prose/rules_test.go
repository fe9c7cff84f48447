//go:build vale

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// style is where the rules are, one per file.
const style = "../../.vale/styles/Project"

// rule is the part of a rule that says which wordings it finds.
type rule struct {
	Swap   map[string]string `json:"swap"`   // by what to find, what to write instead
	Tokens []string          `json:"tokens"` // what to find
	Token  string            `json:"token"`  // what to count
}

// patterns returns what the rule finds, and what its message says about it.
func (r rule) patterns() map[string]string {
	all := map[string]string{}
	for pattern, replacement := range r.Swap {
		all[pattern] = "'" + replacement + "'"
	}
	for _, pattern := range append(r.Tokens, r.Token) {
		if pattern != "" {
			all[pattern] = ""
		}
	}
	return all
}

// finding is a finding of Vale.
type finding struct {
	Check, Message string
	Line           int
}

// TestRules checks each wording that the rules find: testdata/rules.yaml has a sentence with it,
// and the same sentence as the project writes it.
func TestRules(t *testing.T) {
	var examples map[string]map[string][]string
	read(t, "testdata/rules.yaml", &examples)
	files, err := filepath.Glob(filepath.Join(style, "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var sentences []paragraph
	type expectation struct {
		check, pattern, message string
		line                    int
	}
	var expected []expectation
	for _, file := range files {
		var r rule
		read(t, file, &r)
		name := strings.TrimSuffix(filepath.Base(file), ".yml")
		patterns := r.patterns()
		for pattern, message := range patterns {
			example := examples[name][pattern]
			if len(example) != 2 {
				t.Errorf("%s: %q has no example of a wrong and a right sentence", name, pattern)
				continue
			}
			line := 4*len(expected) + 1
			expected = append(expected, expectation{"Project." + name, pattern, message, line})
			sentences = append(sentences, paragraph{line, example[0]}, paragraph{line + 2, example[1]})
		}
		for pattern := range examples[name] {
			if _, ok := patterns[pattern]; !ok {
				t.Errorf("%s: there is an example of %q, which is not in the rule", name, pattern)
			}
		}
	}
	found := vale(t, onLines(sentences))
	for _, e := range expected {
		t.Run(e.check+" "+e.pattern, func(t *testing.T) {
			wrong := found[e.line]
			if len(wrong) != 1 || wrong[0].Check != e.check || !strings.Contains(wrong[0].Message, e.message) {
				t.Errorf("the wrong sentence: got %v, want one finding with %s", wrong, e.message)
			}
			if right := found[e.line+2]; len(right) > 0 {
				t.Errorf("the right sentence: got %v, want no finding", right)
			}
		})
	}
}

// read parses a YAML file.
func read(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// vale returns Vale's findings in text, by line.
func vale(t *testing.T, text []byte) map[int][]finding {
	t.Helper()
	name := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(name, text, 0o666); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("../../bin/vale", "--config=../../.vale.ini", "--output=JSON", name)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 1) { // 1: there are findings
		t.Fatalf("%v: %s%s", err, out, &stderr)
	}
	var byFile map[string][]finding
	if err := json.Unmarshal(out, &byFile); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	found := map[int][]finding{}
	for _, f := range byFile[name] {
		found[f.Line] = append(found[f.Line], f)
	}
	return found
}
