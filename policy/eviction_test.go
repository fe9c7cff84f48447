package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

func TestEviction(t *testing.T) {
	standard := policy.Eviction{After: 10 * time.Minute, MaxPerHour: 10}
	t.Run("nothing is evicted unless it is set", func(t *testing.T) {
		if got := profile(t, minimal, ratiotest.Subject{In: "shop"}).Eviction; got != standard {
			t.Errorf("got %+v, want %+v", got, standard)
		}
	})
	t.Run("a rule has the values of the globals that it does not set", func(t *testing.T) {
		const text = minimal + `
eviction: {enabled: true, after: 5m, maxPerHour: 3}
overrides:
- {name: db, match: {namespace: db}, eviction: {rank: never}}
- {name: off, match: {namespace: off}, eviction: {enabled: false}}
- {name: slow, match: {namespace: slow}, eviction: {after: 1h, rank: high}}
`
		for namespace, want := range map[string]policy.Eviction{
			"other": {Enabled: true, After: 5 * time.Minute, MaxPerHour: 3},
			"db":    {Enabled: true, After: 5 * time.Minute, MaxPerHour: 3, Rank: "never"},
			"off":   {After: 5 * time.Minute, MaxPerHour: 3},
			"slow":  {Enabled: true, After: time.Hour, MaxPerHour: 3, Rank: "high"},
		} {
			if got := profile(t, text, ratiotest.Subject{In: namespace}).Eviction; got != want {
				t.Errorf("%s: got %+v, want %+v", namespace, got, want)
			}
		}
	})
	t.Run("reports faults", func(t *testing.T) {
		for text, want := range map[string]string{
			"eviction: {after: 1m, maxPerHour: 1000}":           "",
			"eviction: {after: 59s}":                            "eviction.after: line 3: must be a duration from 1m to 1d",
			"eviction: {after: 25h}":                            "eviction.after: line 3: must be a duration from 1m to 1d",
			"eviction: {rank: soon}":                            "eviction.rank: line 3: must be one of low, medium, high, never",
			"eviction: {maxPerHour: 0}":                         "eviction.maxPerHour: line 3: must be a whole number from 1 to 1000, such as 10",
			"eviction: {evict: true}":                           "eviction.evict: line 3: unknown key",
			"podLabels: {a: {b: {eviction: {maxPerHour: 3}}}}":  "podLabels.a.b.eviction.maxPerHour: line 3: applies to all pods, so that no rule can set it",
			"podLabels: {a: {b: {eviction: {rank: low}}}}":      "",
			"podLabels: {a: {b: {eviction: {enabled: maybe}}}}": "podLabels.a.b.eviction.enabled: line 3: must be true or false",
		} {
			_, err := config.Parse([]byte(minimal+text), ratios.Provenance{})
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		}
	})
}
