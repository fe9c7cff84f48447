package print

import (
	"regexp"
	"strings"
)

// placeholder matches the words of a remedy that stand for a pod's own.
var placeholder = regexp.MustCompile(`\b(POD|NAMESPACE|NODE|TYPE|SCOPE)\b`)

// Remedy returns a remedy of the table of reasons for a line of output: its placeholders are
// replaced with names, as far as these are known, and commands are in quotes instead of backticks.
func Remedy(text string, names map[string]string) string {
	text = placeholder.ReplaceAllStringFunc(text, func(word string) string {
		if name := names[word]; name != "" {
			return OneLine(name)
		}
		return word
	})
	parts := strings.Split(text, "`")
	for i := 1; i < len(parts); i += 2 {
		if strings.Contains(parts[i], " ") {
			parts[i] = `"` + parts[i] + `"`
		}
	}
	return strings.Join(parts, "")
}
