package why

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/test/docpage"
)

// TestNotCounted checks that each reason of the estimator has its words, and that the reference has them.
func TestNotCounted(t *testing.T) {
	var rows [][]string
	for _, reason := range docpage.Comments(t, "../estimate/reason.go") {
		words, known := NotCounted[reason.Name]
		if !known || words.One == "" || words.Many == "" || words.Do == "" {
			t.Errorf("words are missing for %s", reason.Name)
		}
		rows = append(rows, []string{"`" + reason.Name + "`", reason.Text, words.Do})
	}
	if len(rows) != len(NotCounted) {
		t.Errorf("there are words for %d reasons, and %d reasons", len(NotCounted), len(rows))
	}
	docpage.Generated(t, "docs/reference/measured-ratios.md", map[string]string{
		"reasons why workloads do not count": docpage.Table([]string{"Reason", "Meaning", "Remedy"}, rows...),
	})
}

// TestHeldBack checks that the reference has each reason why production is held back.
func TestHeldBack(t *testing.T) {
	var rows [][]string
	for _, code := range slices.Concat(docpage.Comments(t, "../doubt.go"), docpage.Comments(t, "../estimate/doubt.go")) {
		rows = append(rows, []string{"`" + code.Name + "`", code.Text})
	}
	if len(rows) < 9 {
		t.Errorf("only %d reasons have a comment", len(rows))
	}
	docpage.Generated(t, "docs/reference/measured-ratios.md", map[string]string{
		"reasons to hold production back": docpage.Table([]string{"Reason", "Meaning, and what to do"}, rows...),
	})
}

// TestPace checks that people are told how soon production knows a ratio, and how long that lasts, as it is.
func TestPace(t *testing.T) {
	s := estimate.Defaults()
	days := max(2*s.MinHours/24, s.MinDays)
	for page, want := range map[string][]string{
		"docs/concepts/measured-ratios.md": {
			fmt.Sprintf("at least %d workloads on %d nodes of each type, and takes about %.0f days", s.MinWorkloads, s.MinNodes, days),
			fmt.Sprintf("after %d days without a good enough ratio from production", 2*evidence.HalfLife/24),
		},
		"docs/design/measuring.md": {fmt.Sprintf("nothing certain from production for %d days", 2*evidence.HalfLife/24)},
	} {
		for _, text := range want {
			if !strings.Contains(docpage.Line(t, page), text) {
				t.Errorf("%s does not say %q", page, text)
			}
		}
	}
	for _, reason := range []estimate.Reason{estimate.TooFewHours, estimate.LoadSteady} {
		if text := fmt.Sprintf("about %.0f days", days); !strings.Contains(NotCounted[string(reason)].Do, text) {
			t.Errorf("%s does not say %q", reason, text)
		}
	}
}
