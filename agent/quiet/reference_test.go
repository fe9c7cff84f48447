package quiet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	const page = "docs/reference/node-agents.md"
	want := fmt.Sprintf("stole more than %.0f%% of the CPU time or, on vCPUs that share cores, other processes used more than %.0f%%", 100*maxSteal, 100*maxShared)
	if !strings.Contains(docpage.Line(t, page), want) {
		t.Errorf("%s does not say %q", page, want)
	}
}
