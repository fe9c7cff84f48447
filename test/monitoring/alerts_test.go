package monitoring

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var update = flag.Bool("update", false, "update what the reference says of each alert")

const runbooks = "https://github.com/workload-resizer/workload-resizer/blob/main/docs/reference/alerts.md#"

// alert is an alerting rule.
type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// file returns the path and the content of a file of the repository.
func file(t *testing.T, elements ...string) (path string, content []byte) {
	t.Helper()
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(append([]string{root}, elements...)...)
	if content, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, content
}

func alerts(t *testing.T) []alert {
	t.Helper()
	_, content := file(t, "deploy", "monitoring", "alerts.yaml")
	var rules struct {
		Groups []struct {
			Name  string  `json:"name"`
			Rules []alert `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.UnmarshalStrict(content, &rules); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, group := range rules.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("alerts.yaml has no alerts")
	}
	return all
}

func TestAlerts(t *testing.T) {
	t.Run("promtool accepts the alerts and their tests pass", promtoolAcceptsTheAlertsAndTheirTestsPass)
	t.Run("each alert has tests in which it fires and does not fire", eachAlertHasTestsInWhichItFiresAndDoesNotFire)
	t.Run("each alert has a severity and a description and a runbook", eachAlertHasASeverityAndADescriptionAndARunbook)
}

func promtoolAcceptsTheAlertsAndTheirTestsPass(t *testing.T) {
	promtool, err := localcluster.Binary("promtool")
	if err != nil {
		t.Fatal(err)
	}
	rules, _ := file(t, "deploy", "monitoring", "alerts.yaml")
	tests, _ := file(t, "deploy", "monitoring", "alerts_test.yaml")
	for _, args := range [][]string{{"check", "rules", "--lint-fatal", rules}, {"test", "rules", tests}} {
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

func eachAlertHasTestsInWhichItFiresAndDoesNotFire(t *testing.T) {
	_, content := file(t, "deploy", "monitoring", "alerts_test.yaml")
	var tests struct {
		Tests []struct {
			Checks []struct {
				Expr    string           `json:"expr"`
				Samples []map[string]any `json:"exp_samples"`
			} `json:"promql_expr_test"`
		} `json:"tests"`
	}
	if err := yaml.Unmarshal(content, &tests); err != nil {
		t.Fatal(err)
	}
	type expected struct {
		alert string
		fires bool
	}
	seen := map[expected]bool{}
	name := regexp.MustCompile(`alertname="(\w+)"`)
	for _, test := range tests.Tests {
		for _, check := range test.Checks {
			if match := name.FindStringSubmatch(check.Expr); match != nil {
				seen[expected{match[1], len(check.Samples) > 0}] = true
			}
		}
	}
	for _, a := range alerts(t) {
		for _, fires := range []bool{true, false} {
			if !seen[expected{a.Alert, fires}] {
				t.Errorf("alerts_test.yaml has no check that %s fires: %v", a.Alert, fires)
			}
		}
	}
}

func eachAlertHasASeverityAndADescriptionAndARunbook(t *testing.T) {
	_, guide := file(t, "docs", "reference", "alerts.md")
	var sections []string
	for line := range strings.Lines(string(guide)) {
		if title, ok := strings.CutPrefix(line, "## "); ok && strings.HasPrefix(title, "WorkloadResizer") {
			sections = append(sections, strings.TrimSpace(title))
		}
	}
	for _, a := range alerts(t) {
		if a.For == "" {
			t.Errorf("%s does not set for", a.Alert)
		}
		if severity := a.Labels["severity"]; severity != "critical" && severity != "warning" {
			t.Errorf("%s has the severity %q", a.Alert, severity)
		}
		if a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("%s has the annotations %v", a.Alert, a.Annotations)
		}
		if want := runbooks + strings.ToLower(a.Alert); a.Annotations["runbook_url"] != want {
			t.Errorf("%s has the runbook %s, want %s", a.Alert, a.Annotations["runbook_url"], want)
		}
		if !slices.Contains(sections, a.Alert) {
			t.Errorf("docs/reference/alerts.md has no section %s", a.Alert)
		}
	}
	for _, section := range sections {
		if !slices.ContainsFunc(alerts(t), func(a alert) bool { return a.Alert == section }) {
			t.Errorf("docs/reference/alerts.md has a section %s, which is not an alert", section)
		}
	}
}

// TestReference compares what the reference says of each alert with the rules.
func TestReference(t *testing.T) {
	path, content := file(t, "docs", "reference", "alerts.md")
	want := string(content)
	table, sections := described(alerts(t))
	sections["alerts"] = table
	for name, text := range sections {
		var found bool
		if want, found = between(want, name, text); !found {
			t.Errorf("%s has no place for %s", path, name)
		}
	}
	if want == string(content) {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: run make generate", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

// described returns the table of alerts, and what the section of each alert begins with.
func described(all []alert) (table string, sections map[string]string) {
	var rows strings.Builder
	rows.WriteString("| Alert | Severity | After | Says |\n|---|---|---|---|\n")
	sections = map[string]string{}
	for _, a := range all {
		fmt.Fprintf(&rows, "| [%s](#%s) | %s | %s | %s |\n", a.Alert, strings.ToLower(a.Alert), a.Labels["severity"], a.For, a.Annotations["summary"])
		sections[a.Alert] += fmt.Sprintf("*%s%s, after %s.* %s\n\n", strings.ToUpper(a.Labels["severity"][:1]), a.Labels["severity"][1:], a.For, plain(a.Annotations["description"]))
	}
	for name, text := range sections {
		sections[name] = strings.TrimSuffix(text, "\n")
	}
	return rows.String(), sections
}

var (
	label = regexp.MustCompile(`\{\{ \$labels\.(\w+) \}\}`)
	value = regexp.MustCompile(`\{\{ \$value(?: \| (\w+))? \}\}`)
)

// plain replaces what Prometheus fills in with words that stand for it.
func plain(description string) string {
	description = label.ReplaceAllStringFunc(description, func(found string) string { return "`" + strings.ToUpper(label.FindStringSubmatch(found)[1]) + "`" })
	return value.ReplaceAllStringFunc(description, func(found string) string {
		if value.FindStringSubmatch(found)[1] == "humanizePercentage" {
			return "`N`%"
		}
		return "`N`"
	})
}

// between replaces the generated text of that name in a page.
func between(page, name, text string) (replaced string, found bool) {
	begin, end := "<!-- generated: "+name+" -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(page, begin)
	if !found {
		return page, false
	}
	_, after, found := strings.Cut(rest, end)
	return before + begin + text + end + after, found
}
