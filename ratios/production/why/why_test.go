package why

import (
	"slices"
	"testing"

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
		"reasons why workloads do not count": docpage.Table([]string{"Reason", "Meaning", "What to do"}, rows...),
	})
}

// TestHeldBack checks that the reference has each reason why production is held back.
func TestHeldBack(t *testing.T) {
	var rows [][]string
	for _, code := range slices.Concat(docpage.Comments(t, "../nousage.go"), docpage.Comments(t, "../estimate/doubt.go")) {
		rows = append(rows, []string{"`" + code.Name + "`", code.Text})
	}
	if len(rows) < 9 {
		t.Errorf("only %d reasons have a comment", len(rows))
	}
	docpage.Generated(t, "docs/reference/measured-ratios.md", map[string]string{
		"reasons to hold production back": docpage.Table([]string{"Reason", "Meaning, and what to do"}, rows...),
	})
}
