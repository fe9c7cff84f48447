package pages

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// TestOneUnit checks that the amounts of a column have one unit, and lose nothing that they say.
func TestOneUnit(t *testing.T) {
	for _, tc := range []struct{ column, texts, want string }{
		{"CPU", "500m, 3, 1500m → 9999m, -, 0, -20m", "0.5, 3, 1.5 → 9.999, -, 0, -0.02"},
		{"CPU", "500m, 12.3, 3 → 10m, 1234, -12.5, 0", "0.5, 12.3, 3 → 0.01, 1234, -12.5, 0"},
		{"CPU Used", "1, 3, 0", "1, 3, 0"},
		{"CPU", "5m, 12.3", "0.005, 12.3"},
		{"CPU", "999m, 20m → 0", "999m, 20m → 0"},
		{"CPU", "57% of 3, 500m, 2", "57% of 3, 500m, 2"},
		{"CPU", "0, -", "0, -"},
		{"CPU Bounds", "500m, 3", "500m, 3"},
		{"Memory", "512Mi, 2Gi → 1536Mi, 10239Mi", "0.5Gi, 2Gi → 1.5Gi, 9.999Gi"},
		{"Memory Used", "512Mi, 2Gi, 12.1Gi, 1205Gi, -", "0.5Gi, 2Gi, 12.1Gi, 1205Gi, -"},
		{"Memory", "1023Ki, 2Gi", "1023Ki, 2Gi"},
		{"Memory", "1023Mi, 100Mi", "1023Mi, 100Mi"},
		{"Memory", "1Gi, 2Gi → 3Gi", "1Gi, 2Gi → 3Gi"},
		{"Pods", "1, 1000", "1, 1000"},
	} {
		of := table{Columns: []column{{Name: tc.column, Class: "number"}}}
		if words.MatchString(tc.column) {
			of.Columns[0].Class = ""
		}
		for _, text := range strings.Split(tc.texts, ", ") {
			of.Rows = append(of.Rows, tableRow{Cells: []cell{{Text: text}}})
		}
		of = of.oneUnit()
		var got []string
		for _, row := range of.Rows {
			got = append(got, row.Cells[0].Text)
		}
		if got := strings.Join(got, ", "); got != tc.want {
			t.Errorf("%s: %s becomes %s, want %s", tc.column, tc.texts, got, tc.want)
		}
	}
	if got := strings.Join(inOneUnit(unitsOf[print.Memory.Title], []string{"60Gi", "900Mi"}), " "); got != "60Gi 0.879Gi" {
		t.Errorf("sums are %s", got)
	}
}
