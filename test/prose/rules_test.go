//go:build vale

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// forbidden has, by rule, sentences that Vale must report.
var forbidden = map[string][]string{
	"American": {
		"Its behaviour changes.", "The neighbouring pod.", "It was cancelled.", "A signalling thread.", "It serialises and prioritises.",
		"The utilisation of a node.", "The centre of a metre.", "In its defence.", "They analysed it.", "Amongst pods.",
	},
	"Percent": {"It uses 90 % of its memory."},
	"Long":    {strings.TrimSpace(strings.Repeat("words ", 41)) + "."},
	"Who":     {"Who has Docker can build the image.", "What the node refuses is retried."},
	"Substitutions": {
		"It tells whether a pod fits.", "It says whether the pod is ready.", "The error is dealt with here.", "The server carries the plan out.", "Left alone for Paused.",
		"The server leaves the pod alone.", "It leaves it alone.", "It is to be resized.", "It puts the pod back.", "It was put back.", "It gives the pod back.",
		"It takes the pod for a stranger.", "It takes over the size.", "The ratios in force.", "The rules come in force.", "What the node types are worth.",
		"See what it comes to.", "The holds that there are.", "Since when it waits.", "It retries with growing pauses.", "It starts anew.", "It starts once more.",
		"It lasts for ever.", "Nobody but for the leader writes.", "A limit beside a request.", "It runs at once.", "Be it a pod or a node.", "Written such that it fits.",
		"As soon as it is there, it runs.", "It has none any more.", "It stays, also if it fails.", "It needs another size.", "They get other sizes.", "It gets other cpu.",
		"It pauses every pod of the namespace.", "The pods of the cluster.", "After a change of ratios.", "A plugin of kubectl.", "It replaces the old name by the new one.",
		"It takes some 40 minutes.", "For it, 0 is no limit.", "It returns a text that fits.", "It adjusts the pod.", "It stops so as to be safe.", "It shows how it does.",
		"Whatever it is, it fails.", "Somebody else resized it.", "Hence it fails.", "It shall fail.",
	},
}

// allowed has sentences that Vale must not report.
var allowed = []string{
	"It can take over an hour.", "It can take over 3 GB.", "It takes a pod for an hour.", "It will take over the lead.", "It reports that there are no holds.",
	"How it does this is described below.", "This is to be expected.", "Once more than five pods wait, the leader slows down.", "All but the last page are full.",
	"As it is shown here, the command prints a table.", "The flag says whether TLS is required.", "The quotient of two numbers.", "Analyses of the data.",
	"What is a pod?", "It uses 95% of its memory.", "Replicas are replaced one by one.", "Sizes other than these.", "It has any more than five.",
	"The pods of a workload are in the cluster.", "Print %d %s.", "A text file.", "A reconciled object, organized in color.", strings.TrimSpace(strings.Repeat("words ", 40)) + ".",
}

// TestRules checks that the rules find what they forbid, and nothing else, in each kind of file
// and across line breaks: in the files of the test, every word has a line of its own.
func TestRules(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var rules, sentences []string
	for rule, examples := range forbidden {
		for _, example := range examples {
			rules, sentences = append(rules, rule), append(sentences, example)
		}
	}
	first := len(sentences)
	sentences = append(sentences, allowed...)
	type place struct{ file, line string }
	starts := map[place]int{}
	for _, kind := range []struct{ file, head, begin, between, end string }{
		{"list.md", "", "- ", "\n  ", "\n"},
		{"paragraphs.md", "", "", "\n", "\n\n"},
		{"comment.go", "package p\n\n", "// ", "\n// ", "\n\n"},
		{"literal.go", "package p\n\n", "var _ = `", "\n", "`\n"},
		{"sum.go", "package p\n\n", "var _ = \"", " \" +\n\t\"", "\"\n"},
		{"comment.proto", "", "// ", "\n// ", "\n\n"},
		{"comment.yaml", "", "# ", "\n# ", "\n\n"},
	} {
		source := kind.head
		for i, sentence := range sentences {
			starts[place{kind.file, fmt.Sprint(1 + strings.Count(source, "\n"))}] = i
			source += kind.begin + strings.ReplaceAll(sentence, " ", kind.between) + kind.end
		}
		if err := os.WriteFile(kind.file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := extract(kind.file, "text"); err != nil {
			t.Fatal(err)
		}
	}
	// Vale exits with 1 if it finds something.
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "vale"), "--config", filepath.Join(root, ".vale.ini"), "--output=line", "text").Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("vale: %v\n%s", err, out)
	}
	found := map[place]map[string]bool{}
	for line := range strings.Lines(string(out)) {
		parts := strings.SplitN(strings.TrimPrefix(line, "text/"), ":", 5)
		at := place{strings.TrimSuffix(parts[0], ".txt"), parts[1]}
		if found[at] == nil {
			found[at] = map[string]bool{}
		}
		found[at][strings.TrimPrefix(parts[3], "Project.")] = true
	}
	for at, i := range starts {
		switch {
		case i < first && !found[at][rules[i]]:
			t.Errorf("%s:%s: rule %s does not find %q", at.file, at.line, rules[i], sentences[i])
		case i >= first && len(found[at]) > 0:
			t.Errorf("%s:%s: %v report %q", at.file, at.line, found[at], sentences[i])
		}
	}
}
