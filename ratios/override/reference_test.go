package override

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestReference(t *testing.T) {
	t.Run("accepts the examples of the reference", acceptsTheExamplesOfTheReference)
}

func acceptsTheExamplesOfTheReference(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Overrides\n")
	section, _, _ = strings.Cut(section, "\n## ")
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(examples) != 2 {
		t.Fatalf("%d examples, want one for each of the two keys", len(examples))
	}
	c, err := parse(map[string]string{Key: examples[0][1], HistoryKey: examples[1][1]})
	if err != nil || len(c.overrides) != 1 || len(c.changes) != 1 {
		t.Errorf("read as %+v, %v", c, err)
	}
}
