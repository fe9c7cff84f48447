package main

import (
	"math"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// target returns the target whose estimate is the upper edge of a bucket.
func target(n int, first float64) int64 {
	return int64(math.Floor(first*(math.Pow(1.05, float64(n))-1)/0.05) * 1.15)
}

func TestBuckets(t *testing.T) {
	for _, first := range []float64{firstCPU, firstMemory} {
		for n := 1; n < 100; n++ {
			for _, apart := range []int{0, 1, 2, 7} {
				if got := buckets(target(n, first), target(n+apart, first), first); got != apart {
					t.Errorf("targets of buckets %d and %d of %v are %d apart", n, n+apart, first, got)
				}
			}
		}
	}
}

func TestJudge(t *testing.T) {
	amounts := func(cpu, memory int) recommend.Amounts {
		return recommend.Amounts{CPU: target(cpu, firstCPU), Memory: target(memory, firstMemory)}
	}
	kills, missed := 1, 0
	run := func(theirs, ours recommend.Amounts, times int) error {
		tallies := map[string]*tally{}
		for _, w := range workloads {
			tallies[w.name] = &tally{kills: kills, samples: 100 + w.replicas + missed, ours: 100}
			for range times + remembered - 1 {
				tallies[w.name].add(theirs, ours)
			}
		}
		return judge(new(strings.Builder), tallies)
	}
	if err := run(amounts(20, 30), amounts(21, 29), 30); err != nil {
		t.Errorf("one bucket apart: %v", err)
	}
	for name, test := range map[string]struct {
		theirs, ours recommend.Amounts
		times        int
	}{
		"two buckets of CPU apart":    {amounts(20, 30), amounts(22, 30), 30},
		"two buckets of memory apart": {amounts(20, 30), amounts(20, 32), 30},
		"too few comparisons":         {amounts(20, 30), amounts(20, 30), 29},
	} {
		if err := run(test.theirs, test.ours, test.times); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	if kills = 0; run(amounts(20, 30), amounts(20, 30), 30) == nil {
		t.Error("no kill is no error")
	}
	if kills, missed = 1, 1; run(amounts(20, 30), amounts(20, 30), 30) == nil {
		t.Error("a missed sample is no error")
	}
	t.Run("compares with our targets of a tick before and after", func(t *testing.T) {
		here, there := amounts(20, 30), amounts(40, 50)
		for name, test := range map[string]struct {
			ours []recommend.Amounts
			same int
		}{
			"before":      {[]recommend.Amounts{here, there, there}, 1},
			"at the time": {[]recommend.Amounts{there, here, there}, 1},
			"after":       {[]recommend.Amounts{there, there, here}, 1},
			"never":       {[]recommend.Amounts{there, there, there}, 0},
		} {
			var tally tally
			for i, ours := range test.ours {
				theirs := there
				if i == 1 {
					theirs = here
				}
				tally.add(theirs, ours)
			}
			if tally.compared != 1 || tally.same != test.same || (tally.cpu == 0) != (test.same == 1) || (tally.memory == 0) != (test.same == 1) {
				t.Errorf("%s: %+v", name, tally)
			}
		}
	})
}
