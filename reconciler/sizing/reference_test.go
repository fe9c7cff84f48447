package sizing

import (
	"fmt"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	var rows [][]string
	for _, tc := range []struct {
		original Amount
		num, den uint64
		factor   string
		bounds   Range
		bound    string
		rule     string
	}{
		{Amount{500, 2000}, 4, 5, "0.8", Range{}, "", "both scale"},
		{Amount{14000, 28000}, 13, 10, "1.3", Range{Max: 16000}, "max 16", "a maximum also lowers the limit: limit ÷ request is never more than the author wrote"},
		{Amount{10, 2000}, 1, 1, "1", Range{Min: 50}, "min 50m", "a minimum leaves the limit …"},
		{Amount{10, 10}, 1, 1, "1", Range{Min: 50}, "min 50m", "… unless it was equal to the request: then it stays equal"},
		{Amount{10, 20}, 1, 1, "1", Range{Min: 50}, "min 50m", "a limit above its request stays above it, by at least a millicore or a Mi, so that the pod stays Burstable"},
	} {
		got, _ := CPU.Scale(tc.original, Factor{tc.num, tc.den}, tc.bounds)
		pair := func(a Amount) string { return fmt.Sprintf("%s, %s", CPUText(a.Request), CPUText(a.Limit)) }
		rows = append(rows, []string{pair(tc.original), tc.factor, tc.bound, pair(got), tc.rule})
	}
	docpage.Generated(t, "docs/reference/sizes.md", map[string]string{
		"limits": docpage.Table([]string{"Original request, limit", "Factor", "Bound", "Result", "Rule"}, rows...),
	})
}
