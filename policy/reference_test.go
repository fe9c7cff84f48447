package policy

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/test/docpage"
)

// table returns the table of the keys of a section for the reference. Keys with the same description share a row.
func table[T any]() string {
	var rows [][3]string
	names := map[[3]string][]string{}
	for _, k := range keys.Declared[T]() {
		if k.Gone != "" {
			continue
		}
		row := [3]string{k.Values, k.Default, k.Meaning}
		if names[row] == nil {
			rows = append(rows, row)
		}
		names[row] = append(names[row], "`"+k.Name+"`")
	}
	cells := make([][]string, len(rows))
	for i, row := range rows {
		cells[i] = append([]string{strings.Join(names[row], ", ")}, row[:]...)
	}
	return docpage.Table([]string{"Key", "Values", "Default", "Meaning"}, cells...)
}

func TestReference(t *testing.T) {
	docpage.Generated(t, "docs/reference/configuration.md", map[string]string{
		"bounds": table[Bounds](), "demand": table[Demand](), "prices": table[Prices](), "guard": table[Guard](),
		"objectives": table[Objective](), "schedule": table[window](), "pace": table[Pace](), "startup": table[Startup](), "eviction": table[Eviction](),
		"overload": table[Overload](), "production": table[Production](), "work": table[Work](),
	})
}
