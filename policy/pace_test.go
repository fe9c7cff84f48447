package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
)

func TestPace(t *testing.T) {
	t.Run("reads the rates", readsTheRates)
	t.Run("reports faults", reportsFaultsOfAPace)
}

func readsTheRates(t *testing.T) {
	for _, tc := range []struct {
		text string
		want policy.Pace
	}{
		{"", policy.Pace{ResizesPerSecond: policy.PaceOfProgram, FreedPerHour: 0.25}},
		{"pace: {}", policy.Pace{ResizesPerSecond: policy.PaceOfProgram, FreedPerHour: 0.25}},
		{"pace: {resizesPerSecond: 5}", policy.Pace{ResizesPerSecond: 5, FreedPerHour: 0.25}},
		{"pace: {resizesPerSecond: 0, freedPerHour: 0}", policy.Pace{}},
		{"pace: {resizesPerSecond: 0.001, freedPerHour: 0%}", policy.Pace{ResizesPerSecond: 0.001}},
		{"pace: {resizesPerSecond: 100000, freedPerHour: 100%}", policy.Pace{ResizesPerSecond: 100_000, FreedPerHour: 1}},
		{"pace: {freedPerHour: 0.5%}", policy.Pace{ResizesPerSecond: policy.PaceOfProgram, FreedPerHour: 0.005}},
		{"pace: {freedPerHour: 1}", policy.Pace{ResizesPerSecond: policy.PaceOfProgram, FreedPerHour: 1}},
	} {
		layer, err := config.Parse([]byte(minimal+tc.text), ratios.Provenance{})
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if diff := cmp.Diff(tc.want, layer.Cluster.Complete().Pace); diff != "" {
			t.Errorf("%s: %s", tc.text, diff)
		}
	}
}

func reportsFaultsOfAPace(t *testing.T) {
	const rate = "must be a number from 0.001 to 100000, such as 20, or 0 for no limit"
	const freed = "must be a number from 0 to 1, such as 0.25 or 25%, where 0 means no limit"
	for text, want := range map[string]string{
		"pace: {resizesPerSecond: -1}":     "pace.resizesPerSecond: line 3: " + rate + ", not \"-1\"",
		"pace: {resizesPerSecond: 0.0001}": "pace.resizesPerSecond: line 3: " + rate + ", not \"0.0001\"",
		"pace: {resizesPerSecond: .inf}":   "pace.resizesPerSecond: line 3: " + rate + ", not \".inf\"",
		"pace: {resizesPerSecond: 50%}":    `pace.resizesPerSecond: line 3: ` + rate + `, not "50%"`,
		"pace: {freedPerHour: 25}":         "pace.freedPerHour: line 3: " + freed + ", not \"25\"",
		"pace: {freedPerHour: 101%}":       `pace.freedPerHour: line 3: ` + freed + `, not "101%"`,
		"pace: {freedPerHour: -1%}":        `pace.freedPerHour: line 3: ` + freed + `, not "-1%"`,
		"pace: {freedPerHour: NaN%}":       `pace.freedPerHour: line 3: ` + freed + `, not "NaN%"`,
		"pace: {perSecond: 1}":             "pace.perSecond: line 3: unknown key",
		"podLabels: {a: {b: {pace: {}}}}":  "podLabels.a.b.pace: line 3: applies to all pods, so that no rule can set it",
	} {
		if _, err := config.Parse([]byte(minimal+text), ratios.Provenance{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
