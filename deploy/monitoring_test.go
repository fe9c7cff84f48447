package deploy

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "update the PrometheusRule from the rule file")

func TestMonitoring(t *testing.T) {
	t.Run("the PrometheusRule matches the rule file", thePrometheusRuleMatchesTheRuleFile)
}

// The Prometheus operator needs the rules inside an object, and kustomize cannot put them
// there.
func thePrometheusRuleMatchesTheRuleFile(t *testing.T) {
	const file = "components/monitoring/prometheusrule.yaml"
	rules, err := os.ReadFile("monitoring/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(written), "\nspec:\n")
	if !found {
		t.Fatalf("%s has no spec", file)
	}
	var want strings.Builder
	want.WriteString(head + "\nspec:\n")
	for line := range strings.Lines(string(rules)) {
		if strings.TrimSpace(line) != "" {
			want.WriteString("  ")
		}
		want.WriteString(line)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(written) != want.String() {
		t.Errorf("%s differs from monitoring/alerts.yaml: run \"make generate\"", file)
	}
}
