package intake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	const page = "docs/reference/node-agents.md"
	want := fmt.Sprintf("in the last %.0f days, and for %.0f minutes those that it has told to measure", measuredTime.Hours()/24, claimTime.Minutes())
	if !strings.Contains(docpage.Line(t, page), want) {
		t.Errorf("%s does not say %q", page, want)
	}
}
