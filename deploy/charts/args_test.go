package charts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestArgs(t *testing.T) {
	t.Run("the chart sets only flags that the server has", theChartSetsOnlyFlagsThatTheServerHas)
}

func theChartSetsOnlyFlagsThatTheServerHas(t *testing.T) {
	reference, err := os.ReadFile("../../docs/reference/flags.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(chart, "ci", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]bool{}
	for _, file := range files {
		for _, o := range parsed(t, must(t, "", "helm", "template", chart, chart, "--namespace", "elsewhere", "--values", file)) {
			if o["kind"] != "Deployment" {
				continue
			}
			pod := o["spec"].(object)["template"].(object)["spec"].(object)
			for _, arg := range anys(list(pod["containers"])[0]["args"])[1:] {
				flag, _, _ := strings.Cut(arg.(string), "=")
				flags[flag] = true
			}
		}
	}
	if !flags["--tls-cert-file"] || !flags["--tls-dns-names"] || !flags["--config-name"] {
		t.Errorf("the values of ci/ do not cover all flags: got %v", flags)
	}
	for flag := range flags {
		if !strings.Contains(string(reference), "| `"+flag+"`") {
			t.Errorf("the server has no flag %s", flag)
		}
	}
}
