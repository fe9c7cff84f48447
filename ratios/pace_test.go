package ratios_test

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
)

func TestPace(t *testing.T) {
	t.Run("each rate comes from the first layer that sets it", eachRateComesFromTheFirstLayerThatSetsIt)
	t.Run("it is not part of the revision", thePaceIsNotPartOfTheRevision)
}

func eachRateComesFromTheFirstLayerThatSetsIt(t *testing.T) {
	const byFlag = 20
	for _, tc := range []struct {
		name          string
		first, second keys.Partial[policy.Cluster]
		rate, freed   float64
	}{
		{"none", pace(policy.Pace{}), pace(policy.Pace{}), byFlag, 0.25},
		{"a rate", pace(policy.Pace{}), pace(policy.Pace{ResizesPerSecond: 5}), 5, 0.25},
		{"no limits", keys.Some(policy.Cluster{}, "pace"), pace(policy.Pace{ResizesPerSecond: 5, FreedPerHour: 1}), 0, 0},
		{"one each", pace(policy.Pace{FreedPerHour: 0.5}), pace(policy.Pace{ResizesPerSecond: 5, FreedPerHour: 1}), 5, 0.5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			layer := withRules()
			layer.Cluster = tc.second
			table := merge(t, &ratios.Layer{Cluster: tc.first}, layer)
			if rate, freed := table.Pace.Rates(byFlag); rate != tc.rate || freed != tc.freed {
				t.Errorf("%v per second, %v per hour", rate, freed)
			}
		})
	}
}

func thePaceIsNotPartOfTheRevision(t *testing.T) {
	layer := withRules()
	layer.Cluster = pace(policy.Pace{ResizesPerSecond: 5, FreedPerHour: 0.5})
	if merge(t, layer).Revision != merge(t, withRules()).Revision {
		t.Error("pods would be planned again")
	}
}

func pace(p policy.Pace) keys.Partial[policy.Cluster] { return keys.Some(policy.Cluster{Pace: p}) }
