package monitoring

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/test/docpage"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

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
	docpage.Generated(t, "docs/reference/alerts.md", described(alerts(t)))
}

// described returns the table of alerts, and what the section of each alert begins with.
func described(all []alert) map[string]string {
	var rows [][]string
	parts := map[string]string{}
	for _, a := range all {
		rows = append(rows, []string{"[" + a.Alert + "](#" + strings.ToLower(a.Alert) + ")", a.Labels["severity"], a.For, a.Annotations["summary"]})
		if parts[a.Alert] != "" {
			parts[a.Alert] += "\n"
		}
		severity := a.Labels["severity"]
		parts[a.Alert] += fmt.Sprintf("*%s%s, after %s.* %s\n", strings.ToUpper(severity[:1]), severity[1:], a.For, plain(a.Annotations["description"]))
	}
	parts["alerts"] = docpage.Table([]string{"Alert", "Severity", "After", "Says"}, rows...)
	return parts
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
