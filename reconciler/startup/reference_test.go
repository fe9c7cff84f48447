package startup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	const page = "docs/reference/node-agents.md"
	text := docpage.Line(t, page)
	for _, want := range []string{
		fmt.Sprintf("The leader removes it %.0f seconds after the node is ready", Patience.Seconds()),
		fmt.Sprintf("any other replica does so %.0f seconds later", grace.Seconds()),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", page, want)
		}
	}
}
