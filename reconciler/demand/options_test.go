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
	t.Run("follow the configuration where limits follow", followTheConfigurationWhereLimitsFollow)
	t.Run("follow the configuration where limits follow the peak", followTheConfigurationWhereLimitsFollowThePeak)
	t.Run("have bounds that include the target", haveBoundsThatIncludeTheTarget)
	t.Run("keep as much history as a decrease may need", keepAsMuchHistoryAsADecreaseMayNeed)
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
		want.History.FromNothing = tc.want.Limits.Memory == need.Follow
		if diff := cmp.Diff(want, optionsOf(demandOf(t, tc.text), "app", tc.guaranteed, 2)); diff != "" {
			t.Errorf("%s: %s", tc.text, diff)
		}
	}
}

func followTheConfiguration(t *testing.T) {
	want := usage.Options{Containers: 1, History: history.DefaultOptions(), Recommend: recommend.DefaultOptions()}
	h, r := &want.History, &want.Recommend
	h.Hours = true
	r.Policy, r.Margin, r.MemoryMargin = recommend.Week, 0, 0
	r.CPU, r.Memory = recommend.Percentiles{Target: 0.8, Lower: 0.5, Upper: 0.95}, recommend.Percentiles{Target: 1, Lower: 0.5, Upper: 1}
	r.MinHistory, r.MinCoverage = 3*time.Hour, 0.25
	r.Floor, r.Round = recommend.Amounts{CPU: 10, Memory: 32 << 20}, recommend.Amounts{CPU: 5, Memory: 1 << 20}
	r.Min, r.Max = recommend.Amounts{CPU: 20, Memory: 64 << 20}, recommend.Amounts{CPU: 3000, Memory: 2 << 30}
	r.IntegerCPU, r.KeepMemory = true, true
	r.Limits = need.Limits{CPU: need.None, Memory: need.Multiple, MemoryMultiple: 3, MemoryHeadroom: 100 << 20}
	d := demandOf(t, `{policy: week, margin: 0, minHistory: 3h, minCoverage: 0.25,
  cpu: {target: 0.8, floor: 10m, min: 20m, max: 4, roundTo: 5m, limit: none, wholeCores: true},
  memory: {target: 1, floor: 32Mi, min: 64Mi, max: 4Gi, roundTo: 1Mi, limit: multiple, multiple: 3, headroom: 100Mi, neverLower: true},
  containers: {app: {cpu: {max: 3}, memory: {max: 2Gi}}}}`)
	if diff := cmp.Diff(want, optionsOf(d, "app", false, 1)); diff != "" {
		t.Error(diff)
	}
	r.Max = recommend.Amounts{CPU: 4000, Memory: 4 << 30}
	if diff := cmp.Diff(want, optionsOf(d, "other", false, 1)); diff != "" {
		t.Error(diff)
	}
}

func followTheConfigurationWhereLimitsFollow(t *testing.T) {
	want := usage.Options{Containers: 1, History: history.DefaultOptions(), Recommend: recommend.FollowOptions()}
	h, r := &want.History, &want.Recommend
	h.FromNothing = true
	r.Policy, r.Margin, r.MemoryMargin = recommend.Pressure, 0.15, 0.15
	r.Memory = r.Memory.At(0.9)
	r.Floor.Memory, r.Headroom = 32<<20, 100<<20
	d := demandOf(t, "{policy: pressure, margin: 0.15, memory: {target: 0.9, floor: 32Mi, headroom: 100Mi}}")
	if diff := cmp.Diff(want, optionsOf(d, "app", true, 1)); diff != "" {
		t.Error(diff)
	}
}

func followTheConfigurationWhereLimitsFollowThePeak(t *testing.T) {
	for text, multiple := range map[string]float64{"{memory: {limit: peak}}": 2, "{memory: {limit: peak, multiple: 1.5, headroom: 1Gi}}": 1.5} {
		want := usage.Options{Containers: 1, History: history.DefaultOptions(), Recommend: recommend.DefaultOptions()}
		want.Recommend.Limits = need.Limits{Memory: need.Peak, MemoryMultiple: multiple}
		if diff := cmp.Diff(want, optionsOf(demandOf(t, text), "app", false, 1)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if diff := cmp.Diff(recommend.FollowOptions().Limits, optionsOf(demandOf(t, text), "app", true, 1).Recommend.Limits); diff != "" {
			t.Errorf("%s in Guaranteed pods: %s", text, diff)
		}
	}
}

func haveBoundsThatIncludeTheTarget(t *testing.T) {
	for target, want := range map[float64]recommend.Percentiles{
		0.3: {Target: 0.3, Lower: 0.3, Upper: 0.95}, 0.6: {Target: 0.6, Lower: 0.5, Upper: 0.95}, 0.99: {Target: 0.99, Lower: 0.5, Upper: 0.99},
	} {
		o := optionsOf(demandOf(t, fmt.Sprintf("{cpu: {target: %v}, memory: {target: %v}}", target, target)), "app", false, 1)
		if o.Recommend.CPU != want || o.Recommend.Memory != want {
			t.Errorf("%v: cpu %+v, memory %+v, want %+v", target, o.Recommend.CPU, o.Recommend.Memory, want)
		}
	}
}

func keepAsMuchHistoryAsADecreaseMayNeed(t *testing.T) {
	if o := history.DefaultOptions(); o.Kept() != policy.LongestHistory {
		t.Errorf("history is kept for %v, but %v may be needed", o.Kept(), policy.LongestHistory)
	}
}

func haveTheNamesOfTheRecommender(t *testing.T) {
	var policies []string
	for _, p := range recommend.Policies() {
		policies = append(policies, p.Name())
	}
	policies = append(policies, policy.SharedPolicy) // It says what becomes of what the first one recommends.
	if !slices.Equal(policies, policy.DemandPolicies) {
		t.Errorf("policies %v, configured as %v", policies, policy.DemandPolicies)
	}
	limits, configured := slices.Sorted(maps.Keys(limitModes)), slices.Sorted(slices.Values(policy.DemandLimits))
	if !slices.Equal(limits, configured) {
		t.Errorf("limits %v, configured as %v", limits, configured)
	}
}
