package policy_test

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
)

func TestProduction(t *testing.T) {
	for text, want := range map[string]bool{"": false, "production: {}": false, "production: {mode: observe}": false, "production: {mode: apply}": true} {
		layer, err := config.Parse([]byte(minimal+text), ratios.Provenance{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := layer.Cluster.Complete().Production; got.Applies() != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for text, want := range map[string]string{
		"production: {mode: initial}":                                              "production.mode: line 3: must be one of observe, apply, not \"initial\"",
		"production: {mode: apply, nodeTypes: {}}":                                 "nodeTypes",
		"overrides: [{name: a, match: {namespace: a}, production: {mode: apply}}]": "production: line 3: applies to all pods, so that no rule can set it",
	} {
		if _, err := config.Parse([]byte(minimal+text), ratios.Provenance{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
