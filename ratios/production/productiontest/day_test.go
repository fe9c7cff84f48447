package productiontest

import (
	"slices"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// live describes clusters like the one in which test/production runs.
func live() Settings {
	s := Defaults()
	s.Workloads, s.Types, s.NodesPerType, s.Namespaces = 40, 3, 20, 8
	s.Fastest, s.Replicas, s.Minute = 1.4, 0.1, 0.2
	return s
}

// after is what clusters show after a number of hours: how many types there are, how many have a ratio that is preliminary, and on them, how many
// workloads count and how many mislead as far as the estimate knows.
type after struct {
	*outcome
	types, preliminary, count, mislead int
}

func showsAfter(hours int, s Settings) after {
	o := after{outcome: newOutcome()}
	for i := range *runs {
		o.run(*first+uint64(i), s, func(c *Cluster, e *evidence.Evidence) {
			for range hours {
				c.step(e)
			}
			for _, x := range estimate.Estimate(e, c.Baseline(), estimate.Defaults()).Types {
				o.types++
				if slices.ContainsFunc(x.Doubts, func(d estimate.Doubt) bool { return d.Code == estimate.TooFewDays }) {
					o.preliminary++
				}
				o.count += x.Workloads
				for _, reason := range []estimate.Reason{estimate.SameUsage, estimate.SlopeFalls, estimate.SlopeRises, estimate.Odd} {
					o.mislead += x.Held[reason]
				}
			}
		})
	}
	o.sort()
	return o
}

// near returns which part of the ratios is within 2%.
func (o *outcome) near() float64 {
	within, _ := slices.BinarySearch(o.cluster, 0.02)
	return float64(within) / float64(len(o.cluster))
}

// showsRatiosAfterADay checks that types have ratios after a day, which are right but must not be applied yet, and that honest workloads
// do not seem to mislead.
func showsRatiosAfterADay(t *testing.T) {
	for _, hours := range []int{26, 36, 60} {
		s := live()
		honest := showsAfter(hours, s)
		s.Biased, s.Biases = 0.2, Biases
		biased := showsAfter(hours, s)
		for name, o := range map[string]*after{"honest": &honest, "biased": &biased} {
			if o.intervals < o.types*98/100 || o.preliminary < o.types*98/100 {
				t.Errorf("%s, after %d hours: of %d types, %d have a ratio, and %d are preliminary", name, hours, o.types, o.intervals, o.preliminary)
			}
			if o.intervals == 0 {
				continue
			}
			o.log(t, name)
			t.Logf("%s, after %d hours: %.0f%% are within 2%%, 90%% within %.1f%%; %d of %d seem to mislead", name, hours, 100*o.near(), 100*o.cluster[len(o.cluster)*9/10],
				o.mislead, o.count+o.mislead)
			check(t, "the median error of "+name, o.cluster[len(o.cluster)/2], 0, 0.015, 0.03)
			check(t, "how many ratios are within 2% of "+name, o.near(), 0.65, 1, 0.65)
			check(t, "the coverage of "+name, o.coverage(o.covers), map[string]float64{"honest": 0.93, "biased": 0.88}[name], 1, 0.25)
		}
		t.Logf("moved %.2f%%", 100*biased.moved(honest.outcome))
		check(t, "how far biases move ratios", biased.moved(honest.outcome), 0, 0.015, 0.03)
		if seem := float64(honest.mislead) / float64(max(honest.count, 1)); seem > 0.04 {
			t.Errorf("%.1f%% of the honest workloads seem to mislead after %d hours", 100*seem, hours)
		}
	}
}
