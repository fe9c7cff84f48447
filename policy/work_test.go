package policy_test

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

func TestWork(t *testing.T) {
	t.Run("rules set it, each key on its own", rulesSetWorkEachKeyOnItsOwn)
	t.Run("rejects what cannot be asked", rejectsWorkThatCannotBeAsked)
}

func rulesSetWorkEachKeyOnItsOwn(t *testing.T) {
	layer, err := config.Parse([]byte(minimal+`
work: {prometheus: "http://p:9090"}
overrides:
- {name: a, match: {namespace: a}, work: {query: up}}
- {name: b, match: {namespace: b}, work: {prometheus: "https://other/prefix", query: requests}}
- {name: c, match: {namespace: c}, work: {pulls: true}}
`), ratios.Provenance{})
	if err == nil || !strings.Contains(err.Error(), "work: line") || !strings.Contains(err.Error(), "prometheus and query must both be set, here or for all pods") {
		t.Fatalf("the globals have no query: %v, %v", layer, err)
	}
	layer, err = config.Parse([]byte(minimal+`
work: {prometheus: "http://p:9090", query: sum}
overrides:
- {name: a, match: {namespace: a}, work: {query: up}}
- {name: b, match: {namespace: b}, work: {prometheus: "https://other/prefix", query: requests}}
- {name: c, match: {namespace: c}, work: {pulls: true}}
`), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]policy.Work{
		"": {Prometheus: "http://p:9090", Query: "sum"}, "a": {Prometheus: "http://p:9090", Query: "up"},
		"b": {Prometheus: "https://other/prefix", Query: "requests"}, "c": {Prometheus: "http://p:9090", Query: "sum", Pulls: true},
	} {
		if got := table.Profile(ratiotest.Subject{In: namespace}).Work; got != want || !got.Counts() {
			t.Errorf("namespace %q: %+v, want %+v", namespace, got, want)
		}
	}
	if unset := (&policy.Work{Pulls: true}); unset.Counts() {
		t.Error("without a query, work is counted")
	}
}

func rejectsWorkThatCannotBeAsked(t *testing.T) {
	for text, want := range map[string]string{
		"work: {pulls: maybe}": `work.pulls: line 3: must be true or false, not "maybe"`,
		"work: {query: up}":    "work: line 3: prometheus and query must both be set, here or for all pods",
		"overrides: [{name: a, match: {namespace: a}, work: {prometheus: http://p}}]":          "overrides[0].work: line 3: prometheus and query must both be set, here or for all pods",
		"work: {query: '', prometheus: http://p}":                                              "work.query: line 3: must be a non-empty string",
		"work: {query: up, prometheus: 'http://a:b@p'}":                                        "work.prometheus: line 3: must not contain a user or a password",
		"work: {query: up, prometheus: p}":                                                     "work.prometheus: line 3: must be an http or https URL",
		"work: {query: up, prometheus: http://p, above: 1}":                                    "work.above: line 3: unknown key",
		"overrides: [{name: a, match: {namespace: a}, work: {}}]":                              "overrides[0]: line 3: sets nothing",
		"work: {pulls: true}\noverrides: [{name: a, match: {namespace: a}, work: {query: a}}]": "overrides[0].work: line 4: prometheus and query",
	} {
		if _, err := config.Parse([]byte(minimal+text), ratios.Provenance{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
