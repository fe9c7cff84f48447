package usage

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	names := map[string]string{"CPU": "CPU", "Memory": "memory", "Charged": "charged memory", "Throttled": "throttling",
		"CPUPressure": "pressure on cpu", "MemoryPressure": "pressure on memory", "LimitEvents": "events of the memory limit"}
	var rows [][]string
	for _, field := range docpage.Fields(t, "usage.go") {
		if name := names[field.Name]; name != "" {
			rows = append(rows, []string{name, field.Text})
		}
	}
	if len(rows) != len(names) {
		t.Errorf("%d fields have a comment, want %d", len(rows), len(names))
	}
	docpage.Generated(t, "docs/reference/node-agents.md", map[string]string{"usage": docpage.Table([]string{"What", "How it is measured"}, rows...)})
}
