package monitoring

import (
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

const runbooks = "https://github.com/workload-resizer/workload-resizer/blob/main/docs/operations.md#"

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
	_, guide := file(t, "docs", "operations.md")
	var sections []string
	for line := range strings.Lines(string(guide)) {
		if title, ok := strings.CutPrefix(line, "### "); ok && strings.HasPrefix(title, "WorkloadResizer") {
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
			t.Errorf("docs/operations.md has no section %s", a.Alert)
		}
		if !strings.Contains(string(guide), "["+strings.TrimPrefix(a.Alert, "WorkloadResizer")+"](#"+strings.ToLower(a.Alert)+")") {
			t.Errorf("the table of docs/operations.md has no link to %s", a.Alert)
		}
	}
	for _, section := range sections {
		if !slices.ContainsFunc(alerts(t), func(a alert) bool { return a.Alert == section }) {
			t.Errorf("docs/operations.md has a section %s, which is not an alert", section)
		}
	}
}
