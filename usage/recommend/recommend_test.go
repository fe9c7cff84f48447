package recommend

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

var (
	web   = history.Container{Workload: "web", Name: "main"}
	began = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
)

const (
	mib = 1 << 20
	day = 24 * time.Hour
)

// used is a history that uses the same amounts, once a minute, on each of the given node types.
func used(t *testing.T, length time.Duration, use Amounts, nodeTypes ...string) *history.History {
	t.Helper()
	options := history.DefaultOptions()
	options.Hours = true
	h := history.New(func(history.Container) history.Options { return options })
	for at := began; at.Before(began.Add(length)); at = at.Add(time.Minute) {
		for _, nodeType := range nodeTypes {
			record(t, h, nodeType, at, use)
		}
	}
	return h
}

// record records a sample of both resources.
func record(t *testing.T, h *history.History, nodeType string, at time.Time, use Amounts) {
	t.Helper()
	pod := history.Pod{UID: nodeType, NodeType: nodeType}
	now := at
	v, _ := h.View(web, at)
	for _, t := range v.Types {
		if t.Last.After(now) {
			now = t.Last
		}
	}
	for resource, usage := range map[history.Resource]int64{history.CPU: use.CPU, history.Memory: use.Memory} {
		if err := h.Record(web, history.Sample{Pod: pod, Resource: resource, At: at, Usage: usage}, now); err != nil {
			t.Fatal(err)
		}
	}
}

// demand returns the demand at a time.
func demand(h *history.History, speeds Speeds, now time.Time) Demand {
	v, _ := h.View(web, now)
	return NewDemand(v, speeds)
}

// recommend returns the recommendation for one container, after a time.
func recommend(t *testing.T, h *history.History, o Options, after time.Duration) Recommendation {
	t.Helper()
	r, ok := For(demand(h, Uniform, began.Add(after)), 1, &o, began.Add(after))
	if !ok {
		t.Fatal("no recommendation")
	}
	return r
}

func TestRecommendation(t *testing.T) {
	h := used(t, 2*day, Amounts{CPU: 400, Memory: 1000e6}, "n2d")
	o := CompatOptions()
	compat := recommend(t, h, o, 2*day)
	t.Run("has the VPA's target and bounds", func(t *testing.T) {
		// The buckets that contain the usage end at 0.4148 cores and 1016 MB. The upper bound
		// of two days is 1.5 times as high.
		if want := (Amounts{476, 1168723596}); compat.Target != want {
			t.Errorf("target %+v, want %+v", compat.Target, want)
		}
		if got := float64(compat.Lower.Memory) / float64(compat.Target.Memory); math.Abs(got-math.Pow(1+0.001/compat.MemoryConfidence, -2)) > 1e-8 {
			t.Errorf("lower bound is %v of the target", got)
		}
		if got := float64(compat.Upper.Memory) / float64(compat.Target.Memory); math.Abs(got-1-1/compat.MemoryConfidence) > 1e-8 {
			t.Errorf("upper bound is %v of the target", got)
		}
		if got := compat.CPUConfidence; math.Abs(got-2) > 0.001 {
			t.Errorf("confidence %v, want 2", got)
		}
	})
	t.Run("without samples of CPU does not exist", func(t *testing.T) {
		if _, ok := For(Demand{}, 1, &o, began); ok {
			t.Error("a recommendation")
		}
	})
	t.Run("of memory that was never measured is none", func(t *testing.T) {
		h := history.New(func(history.Container) history.Options { return history.DefaultOptions() })
		for at := began; at.Before(began.Add(2 * day)); at = at.Add(time.Hour) {
			if err := h.Record(web, history.Sample{Pod: history.Pod{UID: "a", NodeType: "n2d"}, At: at, Length: time.Minute, Usage: 400}, at); err != nil {
				t.Fatal(err)
			}
		}
		for name, o := range map[string]Options{"default": DefaultOptions(), "follow": FollowOptions()} {
			r := recommend(t, h, o, 2*day)
			if n := o.Need(&r); n.CPU.Target == 0 || n.CPU.Unknown || n.Memory.Target != 0 || n.Memory.Lower != 0 || !n.Memory.Unknown {
				t.Errorf("%s: %+v", name, n)
			}
		}
		if err := h.RecordKill(web, history.Kill{Pod: history.Pod{UID: "a", NodeType: "n2d"}, At: began.Add(2 * day), Limit: 1000 * mib}, began.Add(2*day)); err != nil {
			t.Fatal(err)
		}
		o := DefaultOptions()
		if r := recommend(t, h, o, 2*day); o.Need(&r).Memory.Unknown {
			t.Error("a kill shows nothing")
		}
	})
	t.Run("of one sample has a target and open bounds", func(t *testing.T) {
		h := used(t, time.Minute, Amounts{CPU: 400, Memory: 1000e6}, "n2d")
		r := recommend(t, h, o, time.Minute)
		if r.Target != compat.Target || r.Upper.CPU != most || r.Upper.Memory != most || r.Lower.CPU != o.Floor.CPU || r.Lower.Memory != o.Floor.Memory {
			t.Errorf("%+v", r)
		}
	})
	t.Run("shares the floor of the pod among its containers", func(t *testing.T) {
		h := used(t, time.Hour, Amounts{CPU: 1, Memory: 1}, "n2d")
		d := demand(h, Uniform, began.Add(time.Hour))
		for containers, want := range map[int]Amounts{0: {25, 250 * mib}, 1: {25, 250 * mib}, 2: {12, 125 * mib}, 100: {11, 11500000}} {
			if r, _ := For(d, containers, &o, began.Add(time.Hour)); r.Target != want {
				t.Errorf("%d containers: %+v, want %+v", containers, r.Target, want)
			}
		}
	})
	t.Run("adds the margin", func(t *testing.T) {
		o := o
		o.Margin, o.MemoryMargin = 0, 0
		if r := recommend(t, h, o, 2*day); r.Target != (Amounts{414, 1016281388}) {
			t.Errorf("%+v", r.Target)
		}
	})
	t.Run("follows the percentiles of each resource", func(t *testing.T) {
		h := used(t, 2*day, Amounts{CPU: 400, Memory: 1000e6}, "n2d")
		for i := range 400 {
			record(t, h, "n2d", began.Add(2*day+time.Duration(i)*time.Minute), Amounts{CPU: 4000, Memory: 1000e6})
		}
		o := o
		o.CPU = Percentiles{Target: 0.5, Lower: 0.1, Upper: 0.99}
		r := recommend(t, h, o, 2*day)
		if r.Target.CPU != 476 || r.Upper.CPU < 4000 {
			t.Errorf("%+v", r)
		}
		o.CPU.Target = 0.99
		if r := recommend(t, h, o, 2*day); r.Target.CPU < 4000 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("stays within the bounds of the container, and its uncapped target does not", func(t *testing.T) {
		o := o
		o.Min, o.Max = Amounts{CPU: 1000}, Amounts{Memory: 500 * mib}
		r := recommend(t, h, o, 2*day)
		if want := (Amounts{1000, 500 * mib}); r.Target != want || r.Lower != want || r.Uncapped != compat.Target {
			t.Errorf("%+v", r)
		}
		if r.Upper.CPU != 1000 || r.Upper.Memory != 500*mib {
			t.Errorf("upper %+v", r.Upper)
		}
	})
	t.Run("stays within the global maximum unless the container has one", func(t *testing.T) {
		o := o
		o.Max, o.GlobalMax = Amounts{CPU: 450}, Amounts{CPU: 100, Memory: 300 * mib}
		if r := recommend(t, h, o, 2*day); r.Target != (Amounts{450, 300 * mib}) {
			t.Errorf("%+v", r.Target)
		}
	})
	t.Run("is rounded up", func(t *testing.T) {
		o := o
		o.Round = Amounts{CPU: 100, Memory: mib}
		if r := recommend(t, h, o, 2*day); r.Target != (Amounts{500, 1115 * mib}) || r.Uncapped != r.Target {
			t.Errorf("%+v", r.Target)
		}
		o.IntegerCPU = true
		if r := recommend(t, h, o, 2*day); r.Target.CPU != 1000 || r.Lower.CPU != 1000 || r.Uncapped.CPU != 1000 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("states how much it is based on", func(t *testing.T) {
		r := recommend(t, h, o, 4*day)
		if r.CPUKnown.Age != 4*day || math.Abs(r.CPUKnown.Coverage-48.0/97) > 1e-9 || r.MemoryKnown != r.CPUKnown || r.PeaksKnown != (Known{}) || r.Throttled != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("says what is missing for a decrease", func(t *testing.T) {
		o := DefaultOptions()
		for _, tc := range []struct {
			known Known
			want  [2]string
		}{
			{Known{}, [2]string{"no CPU was measured", "no peaks of memory were measured"}},
			{Known{Age: 5 * time.Hour, Coverage: 1}, [2]string{"5 hours of CPU known, and 24 hours needed (minHistory)", "5 hours of peaks of memory known, and 24 hours needed (minHistory)"}},
			{Known{Age: 48 * time.Hour, Coverage: 0.4}, [2]string{"CPU was measured in 40% of the hours, and 50% are needed (minCoverage)", "peaks of memory were measured in 40% of the hours, and 50% are needed (minCoverage)"}},
			{Known{Age: 48 * time.Hour, Coverage: 0.5}, [2]string{}},
		} {
			r := Recommendation{CPUKnown: tc.known, PeaksKnown: tc.known}
			if got := [2]string{o.KeepsCPU(&r), o.keepsLimit(&r)}; got != tc.want {
				t.Errorf("%+v: %q, want %q", tc.known, got, tc.want)
			}
		}
	})
	t.Run("does not lower CPU while its source is silent", func(t *testing.T) {
		o := o
		o.Silence = 15 * time.Minute
		last := recommend(t, h, o, 4*day).Last
		of := recommend(t, h, o, last.Sub(began)+15*time.Minute)
		if why := o.KeepsCPU(&of); why != "" {
			t.Errorf("after 15 minutes, CPU is kept: %s", why)
		}
		of = recommend(t, h, o, last.Sub(began)+15*time.Minute+1)
		if why := o.KeepsCPU(&of); why != "no CPU has been measured since "+last.Format(time.RFC3339) {
			t.Errorf("after more than 15 minutes: %q", why)
		}
		if o.Silence = 0; o.KeepsCPU(new(recommend(t, h, o, 4*day))) != "" {
			t.Error("CPU is kept although the silence of a source does not count")
		}
	})
	t.Run("is not known where more samples are throttled than may exceed the target", func(t *testing.T) {
		o := DefaultOptions()
		o.CPU = o.CPU.At(0.75)
		for _, tc := range []struct {
			of   Recommendation
			want bool
		}{
			{Recommendation{}, false}, {Recommendation{Throttled: 0.25}, false}, {Recommendation{Throttled: 0.2501}, true}, {Recommendation{Throttled: 1, Silent: true}, false},
		} {
			if got := o.Throttles(&tc.of); got != tc.want {
				t.Errorf("%+v: %v", tc.of, got)
			}
		}
	})
	t.Run("never follows from numbers that are none", func(t *testing.T) {
		for x, want := range map[float64]int64{math.Inf(1): most, math.Inf(-1): 0, -1: 0, 1.9: 1, 2 * most: most} {
			if got := whole(x); got != want {
				t.Errorf("%v is %d, want %d", x, got, want)
			}
		}
		if whole(math.NaN()) != 0 {
			t.Error("NaN is an amount")
		}
	})
}

func TestNodeTypes(t *testing.T) {
	speeds := func(nodeType string) (Speed, bool) {
		speed, known := map[string]Speed{"n2d": {1, 1}, "c3": {1.25, 1.1}, "bad": {0, 1}, "worse": {1, math.Inf(1)}}[nodeType]
		return speed, known
	}
	h := used(t, day, Amounts{CPU: 400, Memory: 1000e6}, "c3")
	o := CompatOptions()
	now := began.Add(day)
	of := func(h *history.History) Recommendation {
		r, _ := For(demand(h, speeds, now), 1, &o, now)
		return r
	}
	fast := of(h)
	t.Run("count in baseline units", func(t *testing.T) {
		if want := (Amounts{594, 1285595956}); fast.Target != want {
			t.Errorf("%+v, want %+v", fast.Target, want)
		}
	})
	t.Run("get their own units back", func(t *testing.T) {
		speed, _ := speeds("c3")
		own := recommend(t, h, o, day)
		for i, pair := range [][2]Amounts{{fast.Target, own.Target}, {fast.Lower, own.Lower}, {fast.Upper, own.Upper}, {fast.Uncapped, own.Uncapped}} {
			if math.Abs(float64(pair[0].CPU)/speed.CPU-float64(pair[1].CPU)) > 2 || math.Abs(float64(pair[0].Memory)/speed.Memory-float64(pair[1].Memory)) > 2 {
				t.Errorf("%d: %+v, want %+v on the node", i, pair[0], pair[1])
			}
		}
	})
	t.Run("have peaks in baseline units, whichever had one in that hour", func(t *testing.T) {
		h := used(t, time.Minute, Amounts{CPU: 400, Memory: 1000e6}, "c3")
		record(t, h, "bad", began.Add(-day), Amounts{CPU: 9000, Memory: 9000e6})
		record(t, h, "c2", began.Add(-day), Amounts{CPU: 100, Memory: 100e6}) // sorted before c3, in another hour
		speeds := func(nodeType string) (Speed, bool) {
			if nodeType == "c2" {
				return Speed{1, 1}, true
			}
			return speeds(nodeType)
		}
		d := demand(h, speeds, began.Add(7*day))
		for resource, want := range map[history.Resource]float64{history.CPU: 0.5, history.Memory: 1100e6} {
			if got, known := d.peak(resource, began.Add(7*day)); !known || math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%v, %v, want %v", got, known, want)
			}
		}
	})
	t.Run("are united", func(t *testing.T) {
		h := used(t, day, Amounts{CPU: 400, Memory: 1000e6}, "c3", "n2d")
		d := demand(h, speeds, now)
		if got := of(h); got.Target != fast.Target || d.Samples != 2*24*60 || !d.First.Equal(began) || !d.Last.Equal(now.Add(-time.Minute)) {
			t.Errorf("%+v, %d samples from %v to %v", got.Target, d.Samples, d.First, d.Last)
		}
	})
	t.Run("of unknown or impossible speed do not count", func(t *testing.T) {
		h := used(t, day, Amounts{CPU: 4000, Memory: 9000e6}, "unknown", "bad", "worse")
		if _, ok := For(demand(h, speeds, now), 1, &o, now); ok {
			t.Error("a recommendation")
		}
		for at := began; at.Before(now); at = at.Add(time.Minute) {
			record(t, h, "c3", at, Amounts{CPU: 400, Memory: 1000e6})
		}
		if got := of(h); got.Target != fast.Target || !slices.Equal(got.Unknown, []string{"bad", "unknown", "worse"}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("of unknown speed prove nothing about what counts", func(t *testing.T) {
		o := DefaultOptions()
		h := used(t, 8*day, Amounts{CPU: 4000, Memory: 9000e6}, "unknown")
		for at := began.Add(8*day - 10*time.Minute); at.Before(began.Add(8 * day)); at = at.Add(time.Minute) {
			record(t, h, "c3", at, Amounts{CPU: 4, Memory: 9e6})
		}
		r, _ := For(demand(h, speeds, began.Add(8*day)), 1, &o, began.Add(8*day))
		if n := o.Need(&r); n.CPU.Keeps == "" || n.Memory.Keeps == "" || n.Memory.KeepsLimit == "" {
			t.Errorf("sizes are lowered to what was used for ten minutes: %+v", n)
		}
	})
	t.Run("of unknown speed do not fill the hours without samples of what counts", func(t *testing.T) {
		o := DefaultOptions()
		h := used(t, 8*day, Amounts{CPU: 4000, Memory: 9000e6}, "unknown")
		record(t, h, "c3", began.Add(6*day), Amounts{CPU: 4, Memory: 9e6})
		record(t, h, "c3", began.Add(8*day-time.Minute), Amounts{CPU: 4, Memory: 9e6})
		r, _ := For(demand(h, speeds, began.Add(8*day)), 1, &o, began.Add(8*day))
		if n := o.Need(&r); n.CPU.Keeps == "" || n.Memory.Keeps == "" || n.Memory.KeepsLimit == "" {
			t.Errorf("sizes are lowered to what two samples of two days show: %+v", n)
		}
		h = used(t, 8*day, Amounts{CPU: 4000, Memory: 9000e6}, "unknown")
		for i := range 200 {
			record(t, h, "c3", began.Add(7*day+time.Duration(i)*time.Minute), Amounts{CPU: 4, Memory: 9e6})
		}
		r, _ = For(demand(h, speeds, began.Add(8*day)), 1, &o, began.Add(8*day))
		if n := o.Need(&r); n.CPU.Keeps == "" || n.Memory.Keeps == "" || n.Memory.KeepsLimit == "" || r.CPUKnown.Coverage > 0.17 {
			t.Errorf("sizes are lowered to what 200 samples of a few hours show: %+v", n)
		}
		h = used(t, 8*day, Amounts{CPU: 4000, Memory: 9000e6}, "unknown")
		for at := began.Add(6 * day); at.Before(began.Add(8 * day)); at = at.Add(10 * time.Minute) {
			record(t, h, "c3", at, Amounts{CPU: 4, Memory: 9e6})
		}
		r, _ = For(demand(h, speeds, began.Add(8*day)), 1, &o, began.Add(8*day))
		if n := o.Need(&r); n.CPU.Keeps != "" || n.Memory.Keeps != "" {
			t.Errorf("sizes are kept although two days are known: %+v", n)
		}
	})
	t.Run("count from the first to the last sample of all", func(t *testing.T) {
		h := used(t, time.Hour, Amounts{CPU: 1, Memory: 1}, "c3")
		record(t, h, "n2d", began.Add(-time.Hour), Amounts{CPU: 1, Memory: 1})
		record(t, h, "n2d", began.Add(30*time.Minute), Amounts{CPU: 1, Memory: 1})
		later := used(t, time.Hour, Amounts{CPU: 1, Memory: 1}, "c3")
		record(t, later, "n2d", began.Add(30*time.Minute), Amounts{CPU: 1, Memory: 1})
		if d := demand(later, speeds, now); !d.First.Equal(began) {
			t.Errorf("samples from %v", d.First)
		}
		if d := demand(h, speeds, now); !d.First.Equal(began.Add(-time.Hour)) || !d.Last.Equal(began.Add(59*time.Minute)) {
			t.Errorf("samples from %v to %v", d.First, d.Last)
		}
	})
}

func TestConfidence(t *testing.T) {
	for _, test := range []struct {
		samples  int
		interval time.Duration
		want     float64
	}{
		{4 * 24 * 60, 24 * time.Hour, 2}, // two a minute: the time decides
		{24 * 60, 24 * time.Hour, 1},     // one every two minutes: the number decides
		{4 * 24 * 60, 12 * time.Hour, 4},
		{24 * 60, 12 * time.Hour, 2},
	} {
		d := Demand{First: began, Last: began.Add(2 * day), Samples: test.samples}
		if got := d.confidence(test.interval); got != test.want {
			t.Errorf("%d samples, %v: %v, want %v", test.samples, test.interval, got, test.want)
		}
	}
}

func TestOptions(t *testing.T) {
	o := DefaultOptions()
	if o.Floor != (Amounts{25, 64 * mib}) || o.Limits != (need.Limits{Memory: need.Multiple, MemoryMultiple: 2, MemoryHeadroom: 250 * mib}) {
		t.Errorf("%+v, %+v", o.Floor, o.Limits)
	}
	if o.CPU != o.Memory || o.Margin != 0.15 || o.MemoryMargin != 0.15 || o.Headroom != 0 || o.Updates.DecreaseMemory != time.Hour {
		t.Errorf("%+v", o)
	}
	if o := FollowOptions(); o.Floor != (Amounts{25, 250 * mib}) || o.Limits != (need.Limits{}) {
		t.Errorf("%+v, %+v", o.Floor, o.Limits)
	}
	for amount, want := range map[int64]int64{0: 0, 1: 100, 99: 100, 100: 100, 101: 200} {
		if got := roundUp(amount, 100); got != want {
			t.Errorf("%d is rounded to %d, want %d", amount, got, want)
		}
	}
}

func TestHighestUsage(t *testing.T) {
	h := used(t, time.Minute, Amounts{CPU: 400, Memory: 1000 * mib}, "n2d")
	record(t, h, "fast", began, Amounts{CPU: 400, Memory: 900 * mib})
	speeds := func(nodeType string) (Speed, bool) {
		return map[string]Speed{"n2d": {1, 1}, "fast": {1, 1.25}}[nodeType], nodeType != "unknown"
	}
	o := DefaultOptions()
	known := func(after time.Duration, want int64) {
		t.Helper()
		r, _ := For(demand(h, speeds, began.Add(after)), 1, &o, began.Add(after))
		if r.Peak < want || r.Peak > want+want/1000 {
			t.Errorf("%d bytes after %v, want %d", r.Peak, after, want)
		}
	}
	known(0, 1125*mib)
	known(30*day, 1125*mib) // Nothing was measured since then.
	record(t, h, "n2d", began.Add(7*day), Amounts{CPU: 400, Memory: 100 * mib})
	known(7*day, 1125*mib)
	record(t, h, "n2d", began.Add(8*day), Amounts{CPU: 400, Memory: 100 * mib})
	known(8*day, 100*mib)
	r, _ := For(demand(h, speeds, began), 1, &o, began)
	if got := o.Need(&r).Memory.Peak; got != 0 {
		t.Errorf("%d bytes although the limit is a multiple of the request", got)
	}
	o.Limits.Memory = need.Peak
	if got := o.Need(&r); got.Memory.Peak != r.Peak || got.CPU.Peak != 0 {
		t.Errorf("%d bytes, want %d, and %d millicores", got.Memory.Peak, r.Peak, got.CPU.Peak)
	}
}

func TestLimitsThatFollow(t *testing.T) {
	const gib = 1 << 30
	// edge is the upper edge of the bucket of 3 GiB.
	const edge = 3357940170
	o := FollowOptions()
	h := used(t, time.Minute, Amounts{CPU: 400, Memory: 3 * gib}, "n2d")
	of := func(containers, days int) Amounts {
		now := began.Add(time.Duration(days) * day)
		r, _ := For(demand(h, Uniform, now), containers, &o, now)
		return r.Target
	}
	t.Run("have headroom that the containers of a pod share", func(t *testing.T) {
		for containers, want := range map[int]int64{0: edge + 250*mib, 1: edge + 250*mib, 2: edge + 167897008, 100: edge + 167897008} {
			if got := of(containers, 0); got != (Amounts{476, want}) {
				t.Errorf("%d containers: %+v, want %d bytes", containers, got, want)
			}
		}
		o := o
		o.MemoryMargin = 0
		r, _ := For(demand(h, Uniform, began), 2, &o, began)
		if r.Target.Memory != edge+125*mib {
			t.Errorf("%d bytes without a margin", r.Target.Memory)
		}
	})
	t.Run("have the highest peak of a week, and forget it then", func(t *testing.T) {
		for days := 1; days <= 7; days++ {
			if got := of(1, days).Memory; got != edge+250*mib {
				t.Errorf("on day %d, %d bytes", days, got)
			}
			record(t, h, "n2d", began.Add(time.Duration(days)*day), Amounts{CPU: 400, Memory: gib})
		}
		if got, want := of(1, 7).Memory, int64(1077095457+250*mib); got != want {
			t.Errorf("after a week, %d bytes, want %d", got, want)
		}
	})
}

func TestPolicies(t *testing.T) {
	names := []string{}
	for _, p := range Policies() {
		names = append(names, p.Name())
	}
	if !slices.Equal(names, []string{"usage", "pressure", "week", "peak"}) {
		t.Errorf("policies %v", names)
	}
	h := used(t, 6*day, Amounts{CPU: 400, Memory: 1000e6}, "n2d")
	at := began.Add(6 * day)
	for i := range 10 {
		s := history.Sample{Pod: history.Pod{UID: "x", NodeType: "n2d"}, At: at.Add(time.Duration(i) * time.Minute), Usage: 2000, Pressure: 0.5, Throttled: true}
		if err := h.Record(web, s, s.At); err != nil {
			t.Fatal(err)
		}
		s.Resource, s.Usage = history.Memory, 3000e6
		if err := h.Record(web, s, s.At); err != nil {
			t.Fatal(err)
		}
	}
	record(t, h, "n2d", at.Add(time.Hour), Amounts{CPU: 400, Memory: 1000e6})
	policy := func(p Policy, now time.Time) Recommendation {
		o := CompatOptions()
		o.Policy, o.Margin, o.MemoryMargin = p, 0, 0
		r, _ := For(demand(h, Uniform, now), 1, &o, now)
		return r
	}
	now := at.Add(time.Hour)
	t.Run("usage follows percentiles", func(t *testing.T) {
		if r := policy(Usage, now); r.Target.CPU != 414 || r.Throttled < 0.002 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("pressure adds the time that a container waited", func(t *testing.T) {
		for i := range 1000 {
			s := history.Sample{Pod: history.Pod{UID: "y", NodeType: "n2d"}, At: at.Add(time.Duration(i) * time.Second), Usage: 400, Pressure: 0.5}
			if err := h.Record(web, s, s.At); err != nil {
				t.Fatal(err)
			}
		}
		if r := policy(Pressure, now); r.Target.CPU < 600 || r.Target.CPU > 630 || r.Target.Memory != policy(Usage, now).Target.Memory {
			t.Errorf("%+v", r.Target)
		}
		if r := policy(Usage, now); r.Target.CPU != 414 {
			t.Errorf("usage %+v", r.Target)
		}
	})
	t.Run("week follows the peak of a week ago, an hour ahead", func(t *testing.T) {
		week := at.Add(7 * day)
		for hour, want := range map[int]int64{-2: 414, -1: 2000, 0: 2000, 1: 414} {
			r := policy(Week, week.Add(time.Duration(hour)*time.Hour))
			if r.Target.CPU != want || r.Upper.CPU < want {
				t.Errorf("%d hours later: %+v", hour, r)
			}
			if raised := r.Target.Memory == 3000e6; raised != (want == 2000) && r.Target.Memory < 3000e6 {
				t.Errorf("%d hours later: memory %+v", hour, r.Target)
			}
		}
	})
	t.Run("peak follows the 75th percentile of CPU and the highest peaks", func(t *testing.T) {
		r := policy(Peak, now)
		if r.Target.CPU > 630 || r.Upper.CPU < 3000 || r.Target.Memory < 3000e6 || r.Lower.Memory > r.Target.Memory {
			t.Errorf("%+v", r)
		}
	})
}

// A value is in the middle of its bucket up to half of the bucket's width.
func TestUsed(t *testing.T) {
	h := used(t, day, Amounts{CPU: 1000, Memory: 512 * mib}, "a", "b")
	view, _ := h.View(web, began.Add(day))
	o := DefaultOptions()
	r, ok := For(NewDemand(view, func(nodeType string) (Speed, bool) {
		return map[string]Speed{"a": {CPU: 1, Memory: 1}, "b": {CPU: 2, Memory: 1}}[nodeType], true
	}), 1, &o, began.Add(day))
	if !ok || math.Abs(float64(r.Used.CPU)-1500) > 1500*0.026 || math.Abs(float64(r.Used.Memory)-512*mib) > 512*mib*0.026 {
		t.Errorf("%v, %+v", ok, r.Used)
	}
}
