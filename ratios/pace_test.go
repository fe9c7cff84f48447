package ratios_test

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/policy"
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
		first, second policy.Pace
		rate, freed   float64
	}{
		{"none", policy.Pace{}, policy.Pace{}, byFlag, 0.25},
		{"a rate", policy.Pace{}, policy.Pace{ResizesPerSecond: new(5.0)}, 5, 0.25},
		{"no limits", policy.Pace{ResizesPerSecond: new(0.0), FreedPerHour: new(0.0)}, policy.Pace{ResizesPerSecond: new(5.0), FreedPerHour: new(1.0)}, 0, 0},
		{"one each", policy.Pace{FreedPerHour: new(0.5)}, policy.Pace{ResizesPerSecond: new(5.0), FreedPerHour: new(1.0)}, 5, 0.5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			layer := withRules()
			layer.Pace = tc.second
			table := merge(t, &ratios.Layer{Cluster: policy.Cluster{Pace: tc.first}}, layer)
			if rate, freed := table.Pace.Rates(byFlag); rate != tc.rate || freed != tc.freed {
				t.Errorf("%v per second, %v per hour", rate, freed)
			}
		})
	}
}

func thePaceIsNotPartOfTheRevision(t *testing.T) {
	layer := withRules()
	layer.Pace = policy.Pace{ResizesPerSecond: new(5.0), FreedPerHour: new(0.5)}
	if merge(t, layer).Revision != merge(t, withRules()).Revision {
		t.Error("pods would be planned again")
	}
}
