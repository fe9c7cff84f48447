package estimate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	t.Run("the reference has every doubt", theReferenceHasEveryDoubt)
	t.Run("the reference has the weights of busy machines", theReferenceHasTheWeightsOfBusyMachines)
}

func theReferenceHasTheWeightsOfBusyMachines(t *testing.T) {
	const page = "docs/reference/node-agents.md"
	want := fmt.Sprintf("%.0f%% at a load of 15%%, %.0f%% at 30%%, and %.0f%% at 60%%", 100*calm(0.15), 100*calm(0.3), 100*calm(0.6))
	if !strings.Contains(docpage.Line(t, page), want) {
		t.Errorf("%s does not say %q", page, want)
	}
}

func theReferenceHasEveryDoubt(t *testing.T) {
	var rows [][]string
	for _, code := range docpage.Comments(t, "doubt.go") {
		follows := "stays"
		if Code(code.Name).NotEnough() {
			follows = "goes back"
		}
		rows = append(rows, []string{"`" + code.Name + "`", code.Text, follows})
	}
	if len(rows) != 7 {
		t.Errorf("%d reasons have a comment", len(rows))
	}
	docpage.Generated(t, "docs/reference/measured-ratios.md", map[string]string{
		"reasons to hold a suggestion back": docpage.Table([]string{"Reason", "Meaning", "A ratio that follows the suggestion"}, rows...),
	})
}
