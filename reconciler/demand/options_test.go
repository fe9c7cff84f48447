package demand

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

func TestOptions(t *testing.T) {
	t.Run("are the defaults unless configured", areTheDefaultsUnlessConfigured)
	t.Run("follow the configuration", followTheConfiguration)
	t.Run("have the percentiles with which a configuration is checked", haveThePercentilesWithWhichAConfigurationIsChecked)
	t.Run("have the names of the recommender", haveTheNamesOfTheRecommender)
}

// demandOf returns what a configuration says.
func demandOf(t *testing.T, text string) *policy.Demand {
	t.Helper()
	layer, err := config.Parse([]byte("baselineNodeType: n2d\nnodeTypes: {n2d: {cpuPerf: 1, memPerf: 1}}\ndemand: "+text), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	return &table.Profiles()[0].Demand
}

func areTheDefaultsUnlessConfigured(t *testing.T) {
	for _, tc := range []struct {
		text       string
		guaranteed bool
		want       recommend.Options
	}{
		{"{}", false, recommend.DefaultOptions()},
		{"{}", true, recommend.FollowOptions()},
		{"{from: usage, mode: observe}", false, recommend.DefaultOptions()},
		{"{memory: {limit: follow}}", false, recommend.FollowOptions()},
		{"{cpu: {limit: none}, memory: {limit: multiple}}", true, recommend.FollowOptions()},
	} {
		want := usage.Options{History: history.DefaultOptions(), Recommend: tc.want, Containers: 2}
		if diff := cmp.Diff(want, optionsOf(demandOf(t, tc.text), "app", tc.guaranteed, 2)); diff != "" {
			t.Errorf("%s: %s", tc.text, diff)
		}
	}
}

func followTheConfiguration(t *testing.T) {
	want := usage.Options{Containers: 1, History: history.DefaultOptions(), Recommend: recommend.DefaultOptions()}
	h, r := &want.History, &want.Recommend
	*h = history.Options{
		CPUHalfLife: 12 * time.Hour, MemoryHalfLife: 48 * time.Hour, Interval: 6 * time.Hour, Intervals: 10,
		OOMBump: 1.5, OOMMinBump: 200 << 20, Hours: true,
	}
	r.Policy, r.Margin = recommend.Week, 0
	r.CPU, r.Memory = recommend.Percentiles{Target: 0.8, Lower: 0.4, Upper: 0.99}, recommend.Percentiles{Target: 1, Lower: 0.6, Upper: 1}
	r.CPUConfidence, r.MemoryConfidence, r.MinHistory, r.MinCoverage = 6*time.Hour, 7*time.Hour, 3*time.Hour, 0.25
	r.Floor, r.Round = recommend.Amounts{CPU: 10, Memory: 32 << 20}, recommend.Amounts{CPU: 5, Memory: 1 << 20}
	r.Min, r.Max = recommend.Amounts{CPU: 20, Memory: 64 << 20}, recommend.Amounts{CPU: 3000, Memory: 2 << 30}
	r.IntegerCPU, r.KeepMemory = true, true
	r.Limits = need.Limits{CPU: need.None, Memory: need.Multiple, MemoryMultiple: 3, MemoryHeadroom: 100 << 20}
	d := demandOf(t, `{policy: week, margin: 0, minHistory: 3h, minCoverage: 0.25, window: 6h, windows: 10, oomBump: 1.5, oomMinBump: 200Mi,
  cpu: {target: 0.8, lower: 0.4, upper: 0.99, floor: 10m, min: 20m, max: 4, roundTo: 5m, halfLife: 12h, confidence: 6h, limit: none, wholeCores: true},
  memory: {target: 1, lower: 0.6, upper: 1, floor: 32Mi, min: 64Mi, max: 4Gi, roundTo: 1Mi, halfLife: 2d, confidence: 7h, limit: multiple, multiple: 3, headroom: 100Mi, neverLower: true},
  containers: {app: {cpu: {max: 3}, memory: {max: 2Gi}}}}`)
	if diff := cmp.Diff(want, optionsOf(d, "app", false, 1)); diff != "" {
		t.Error(diff)
	}
	r.Max = recommend.Amounts{CPU: 4000, Memory: 4 << 30}
	if diff := cmp.Diff(want, optionsOf(d, "other", false, 1)); diff != "" {
		t.Error(diff)
	}
}

func haveThePercentilesWithWhichAConfigurationIsChecked(t *testing.T) {
	o := recommend.DefaultOptions()
	for resource, of := range map[string]recommend.Percentiles{"cpu": o.CPU, "memory": o.Memory} {
		for _, tc := range []struct {
			key   string
			value float64
			valid bool
		}{
			{"lower", of.Target, true}, {"lower", of.Target + 0.001, false},
			{"upper", of.Target, true}, {"upper", of.Target - 0.001, false},
			{"target", of.Lower, true}, {"target", of.Lower - 0.001, false},
			{"target", of.Upper, true}, {"target", of.Upper + 0.001, false},
		} {
			text := fmt.Sprintf("baselineNodeType: n2d\nnodeTypes: {n2d: {cpuPerf: 1, memPerf: 1}}\ndemand: {%s: {%s: %v}}", resource, tc.key, tc.value)
			if _, err := config.Parse([]byte(text), ratios.Provenance{}); (err == nil) != tc.valid {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

func haveTheNamesOfTheRecommender(t *testing.T) {
	var policies []string
	for _, p := range recommend.Policies() {
		policies = append(policies, p.Name())
	}
	if !slices.Equal(policies, policy.DemandPolicies) {
		t.Errorf("policies %v, configured as %v", policies, policy.DemandPolicies)
	}
	limits, configured := slices.Sorted(maps.Keys(limitModes)), slices.Sorted(slices.Values(policy.DemandLimits))
	if !slices.Equal(limits, configured) {
		t.Errorf("limits %v, configured as %v", limits, configured)
	}
}
