package estimate

import (
	"math"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

func TestCalm(t *testing.T) {
	t.Run("the weight falls with the load of others", func(t *testing.T) {
		for _, tc := range []struct{ load, want float64 }{{0, 1}, {0.15, 0.72}, {0.3, 0.39}, {0.6, 0.14}, {1, 0.05}} {
			if got := calm(tc.load); math.Abs(got-tc.want) > 0.005 {
				t.Errorf("at %v: got %v, want %v", tc.load, got, tc.want)
			}
		}
	})
	t.Run("machines that were measured at rest determine the median", func(t *testing.T) {
		now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
		var all []sample.Sample
		for i, load := range []float64{0, 0, 0, 0.6, 0.6, 0.6, 0.6, 0.6} {
			all = append(all, sample.Sample{
				NodeType: "n4", Benchmark: "bench-node:json", Score: 100 - 10*load, VCPUs: 1, Threads: 1,
				Machine: string(rune('a' + i)), Time: now, OtherLoad: load, Source: sample.SourceAgent,
			})
		}
		settings := Defaults()
		settings.OutliersFrom = 100
		if a := Aggregates(all, now, settings)[0]; a.Median != 100 || a.Machines != 8 {
			t.Errorf("the median of %d machines is %v, want 100 of 8", a.Machines, a.Median)
		}
	})
	t.Run("load on all machines alike changes nothing", func(t *testing.T) {
		x := []score{{value: 1, machine: "a", recency: calm(0.6)}, {value: 2, machine: "b", recency: calm(0.6)}, {value: 4, machine: "c", recency: calm(0.6)}}
		if got := newScores(x).median(); got != 2 {
			t.Errorf("the median is %v", got)
		}
	})
}
