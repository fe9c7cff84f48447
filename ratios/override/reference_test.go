package override

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	t.Run("accepts the examples of the reference", acceptsTheExamplesOfTheReference)
}

func acceptsTheExamplesOfTheReference(t *testing.T) {
	examples := docpage.Blocks(docpage.Section(t, "docs/design/storage.md", "## Overrides"), "yaml")
	if len(examples) != 2 {
		t.Fatalf("%d examples, want one for each of the two keys", len(examples))
	}
	c, err := parse(map[string]string{Key: examples[0], HistoryKey: examples[1]})
	if err != nil || len(c.overrides) != 1 || len(c.changes) != 1 {
		t.Errorf("read as %+v, %v", c, err)
	}
}
