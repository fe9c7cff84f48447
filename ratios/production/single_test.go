package production

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

func TestSingle(t *testing.T) {
	t.Run("workloads that differ are kept with a ratio that is good enough", workloadsThatDifferAreKeptWithAGoodRatio)
	t.Run("only the most important ones are kept", onlyTheMostImportantOnesAreKept)
	t.Run("what is stored is checked", whatIsStoredOfThemIsChecked)
}

func workloadsThatDifferAreKeptWithAGoodRatio(t *testing.T) {
	of := estimate.Estimate(large().all, "t0", estimate.Defaults())
	all := suggestions(of, "t0", []string{"t0", "t1", "t2"})
	at := slices.IndexFunc(all, func(s Suggestion) bool { return len(s.Unlike) > 0 })
	if at < 0 {
		t.Fatal("no workload of a large cluster differs")
	}
	s := &all[at]
	for _, x := range s.Unlike {
		if x.Low <= s.Cluster.Ratio && s.Cluster.Ratio <= x.High || large().all.Workloads[x.Key] == nil {
			t.Errorf("%+v does not differ from %+v", x, s.Cluster)
		}
	}
	data, err := measured.Format(content{Suggestions: all})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := parse(data); err != nil || cmp.Diff(all, again.Suggestions) != "" {
		t.Errorf("%v: %s", err, cmp.Diff(all, again.Suggestions))
	}

	held := of
	held.Types = slices.Clone(of.Types)
	for i := range held.Types {
		held.Types[i].Doubts = []estimate.Doubt{{Code: estimate.TooFewNodes}}
	}
	for _, s := range suggestions(held, "t0", []string{"t0"}) {
		if len(s.Unlike) > 0 {
			t.Errorf("the ratio of %s is held back, but not those of %d workloads", s.NodeType, len(s.Unlike))
		}
	}
}

func onlyTheMostImportantOnesAreKept(t *testing.T) {
	of := estimate.Result{}
	add := func(key evidence.Key, ratio, cores float64, differs bool) {
		of.Workloads = append(of.Workloads, estimate.Workload{Key: key, Types: []estimate.WorkloadType{
			{NodeType: "n4", Ratio: estimate.Interval{Ratio: ratio, Low: ratio - 0.01, High: ratio + 0.01}, Differs: differs, Cores: cores},
			{NodeType: "c3", Ratio: estimate.Interval{Ratio: 3, Low: 2.9, High: 3.1}, Differs: true, Cores: 1000},
		}})
	}
	for key := range evidence.Key(MostUnlike) {
		add(key, 1.3, 1, true)
	}
	add(100, 1.3, 50, true)      // Large.
	add(101, 1.0, 10, true)      // Slower than others there, and unlike them.
	add(102, 1.2, 10_000, false) // Like the cluster.
	add(103, math.NaN(), 10_000, true)
	got := unlike(&of, &estimate.Type{NodeType: "n4", Cluster: estimate.Interval{Ratio: 1.2, Low: 1.19, High: 1.21}})
	if len(got) != MostUnlike || got[0].Key != 100 || got[1].Key != 101 || got[2].Key != 0 || got[0].Ratio != 1.3 {
		t.Errorf("%d: %+v", len(got), got)
	}
}

func whatIsStoredOfThemIsChecked(t *testing.T) {
	for _, tc := range []struct{ stored, want string }{
		{`{"key": "1", "ratio": -1}`, "must have a ratio above 0"},
		{strings.Repeat(`{"key": "1", "ratio": 1, "low": 1, "high": 1},`, MostUnlike) + `{"key": "1", "ratio": 1, "low": 1, "high": 1}`, "at most 20 workloads, not 21"},
	} {
		_, err := parse(map[string]string{measured.Key: `{"suggestions": [{"nodeType": "n4", "unlike": [` + tc.stored + `]}]}`})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v, want %q", err, tc.want)
		}
	}
}
