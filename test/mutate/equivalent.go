package main

import (
	"fmt"
	"os"
	"strings"
)

// endless is the prefix of the reason for a mutant whose tests time out because it never ends,
// and not because they are slow.
const endless = "endless: "

// equivalent is a mutant that is not killed, and the reason.
type equivalent struct {
	change
	why string
}

// readEquivalent reads a list. Each paragraph has the file and the function, the line, the line
// of the mutant, and the reason. Lines that start with # are comments.
func readEquivalent(name string) ([]equivalent, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	all, err := parseEquivalent(string(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

func parseEquivalent(text string) (all []equivalent, err error) {
	var paragraph []string
	end := func() error {
		if len(paragraph) == 0 {
			return nil
		}
		defer func() { paragraph = nil }()
		if len(paragraph) < 4 || !strings.HasPrefix(paragraph[1], "- ") || !strings.HasPrefix(paragraph[2], "+ ") {
			return fmt.Errorf("%q must be followed by a line with -, a line with +, and the reason why no test can distinguish them", paragraph[0])
		}
		file, function, _ := strings.Cut(paragraph[0], " ")
		all = append(all, equivalent{change{file, function, paragraph[1][2:], paragraph[2][2:]}, strings.Join(paragraph[3:], " ")})
		return nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case line != "":
			paragraph = append(paragraph, line)
		default:
			if err := end(); err != nil {
				return nil, err
			}
		}
	}
	return all, end()
}
