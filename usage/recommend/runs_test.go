package recommend

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// oneRun is one run of a CronJob, of ten minutes.
type oneRun struct {
	at       time.Time
	nodeType string
	memory   int64
	// moments means that no peaks are measured, and failed that it does not end with success.
	moments, failed bool
}

// daily returns a run of each day.
func daily(days int) (all []oneRun) {
	for i := range days {
		all = append(all, oneRun{at: began.Add(time.Duration(i) * day), nodeType: "n2d", memory: 500e6})
	}
	return all
}

// ran returns what is recommended after some runs.
func ran(t *testing.T, o *Options, speeds Speeds, since time.Duration, all ...oneRun) (Recommendation, *history.History) {
	t.Helper()
	h := history.New(func(history.Container) history.Options { return history.DefaultOptions() })
	var now time.Time
	for i, r := range all {
		uid := fmt.Sprint(i)
		for minute := range 10 {
			now = r.at.Add(time.Duration(minute) * time.Minute)
			s := history.Sample{Pod: history.Pod{UID: uid, NodeType: r.nodeType}, At: now, Length: time.Minute, Usage: 200}
			m := s
			if m.Resource, m.Usage = history.Memory, r.memory-int64(minute); r.moments {
				m.Length = 0
			}
			for _, s := range []history.Sample{s, m} {
				if err := h.Record(web, s, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !r.failed {
			h.RecordRun(web, uid, 0)
		}
		h.Expire(now)
	}
	now = now.Add(since)
	r, ok := For(demand(h, speeds, now), 1, o, now)
	if !ok {
		t.Fatal("no recommendation")
	}
	return r, h
}

// jobs are options of Jobs.
func jobs() Options {
	o := DefaultOptions()
	o.ByRuns = true
	return o
}

func TestRuns(t *testing.T) {
	const enough = ", and 10 on 3 days are needed"
	change := func(all []oneRun, do func(i int, r *oneRun)) []oneRun {
		for i := range all {
			do(i, &all[i])
		}
		return all
	}
	minutely := func(r *oneRun, i int) { r.at = began.Add(time.Duration(i) * 10 * time.Minute) }
	for _, test := range []struct {
		name string
		runs []oneRun
		// cpu, memory and limit are why these are not lowered.
		cpu, memory, limit string
	}{
		{"nine of nine days are too few", daily(9), "CPU was measured in 9 successful runs, on 9 days" + enough, "memory was measured in 9 successful runs, on 9 days" + enough, "peaks of memory were measured in 9 successful runs, on 9 days" + enough},
		{"ten of ten days are enough", daily(10), "", "", ""},
		{"more are enough, too", daily(30), "", "", ""},
		{"ten of ten weeks are enough", change(daily(10), func(i int, r *oneRun) { r.at = began.Add(7 * time.Duration(i) * day) }), "", "", ""},
		{
			"ten of one day are of too few days", change(daily(10), func(i int, r *oneRun) { minutely(r, i) }), "CPU was measured in 10 successful runs, on 1 day" + enough,
			"memory was measured in 10 successful runs, on 1 day" + enough, "peaks of memory were measured in 10 successful runs, on 1 day" + enough,
		},
		{"ten of three days are enough", change(daily(10), func(i int, r *oneRun) {
			if minutely(r, i); i > 7 {
				r.at = began.Add(time.Duration(i-7) * day)
			}
		}), "", "", ""},
		{
			"those that failed do not count", change(daily(12), func(i int, r *oneRun) { r.failed = i%4 == 0 }), "CPU was measured in 9 successful runs, on 9 days" + enough,
			"memory was measured in 9 successful runs, on 9 days" + enough, "peaks of memory were measured in 9 successful runs, on 9 days" + enough,
		},
		{
			"a single one says so", daily(1), "CPU was measured in 1 successful run, on 1 day" + enough,
			"memory was measured in 1 successful run, on 1 day" + enough, "peaks of memory were measured in 1 successful run, on 1 day" + enough,
		},
		{"without peaks, the limit stays", change(daily(10), func(_ int, r *oneRun) { r.moments = true }), "", "", "no peaks of memory were measured"},
		{"with too few peaks, the limit stays", change(daily(10), func(i int, r *oneRun) { r.moments = i > 7 }), "", "", "peaks of memory were measured in 8 successful runs, on 8 days" + enough},
		{"those of all types of nodes count together", change(daily(10), func(i int, r *oneRun) { r.nodeType = []string{"n2d", "c3"}[i%2] }), "", "", ""},
		{
			"those of types without a speed do not count", change(daily(10), func(i int, r *oneRun) { r.nodeType = []string{"n2d", "?"}[i%2] }), "CPU was measured in 5 successful runs, on 5 days" + enough,
			"memory was measured in 5 successful runs, on 5 days" + enough, "peaks of memory were measured in 5 successful runs, on 5 days" + enough,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := jobs()
			r, _ := ran(t, &o, func(nodeType string) (Speed, bool) { return Speed{1, 1}, nodeType != "?" }, time.Hour, test.runs...)
			if got, want := [...]string{o.KeepsCPU(&r), o.KeepsMemory(&r, false), o.keepsLimit(&r)}, [...]string{test.cpu, test.memory, test.limit}; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	t.Run("other workloads need hours", func(t *testing.T) {
		o := DefaultOptions()
		r, _ := ran(t, &o, Uniform, time.Minute, daily(10)...)
		if got := o.KeepsCPU(&r); !strings.Contains(got, "minCoverage") {
			t.Error(got)
		}
	})
	t.Run("need as much memory as the highest of them, whatever the percentile is", func(t *testing.T) {
		all := daily(10)
		all[0].memory = 900e6
		for name, options := range map[string]func() Options{"default": DefaultOptions, "follow": FollowOptions} {
			o := options()
			service, _ := ran(t, &o, Uniform, time.Hour, all...)
			o.ByRuns = true
			r, h := ran(t, &o, Uniform, time.Hour, all...)
			least := o.pad(Amounts{Memory: 900e6}, 1).Memory
			if got := r.Target.Memory; got < least || float64(got) > 1.002*float64(least) || service.Target.Memory >= got {
				t.Errorf("%s: %d bytes, want %d; without runs, %d", name, got, least, service.Target.Memory)
			}
			if r.Upper.Memory < r.Target.Memory || r.Lower.Memory > r.Target.Memory || r.Peak < 900e6 || r.Target.CPU != service.Target.CPU {
				t.Errorf("%s: %+v", name, r)
			}
			steps := Steps(demand(h, Uniform, began.Add(10*day)), 1, &o, began.Add(10*day))
			if steps[len(steps)-1].Amounts != r.Target || !strings.Contains(steps[0].Message, "successful runs") {
				t.Errorf("%s: %+v", name, steps)
			}
		}
	})
	t.Run("need it on the baseline", func(t *testing.T) {
		all := daily(10)
		all[5].nodeType, all[5].memory = "c3", 900e6
		o := jobs()
		r, _ := ran(t, &o, func(nodeType string) (Speed, bool) {
			return Speed{1, map[string]float64{"n2d": 1, "c3": 2}[nodeType]}, true
		}, time.Hour, all...)
		if got, least := r.Target.Memory, o.pad(Amounts{Memory: 1800e6}, 1).Memory; got < least || float64(got) > 1.002*float64(least) {
			t.Errorf("%d bytes, want %d", got, least)
		}
	})
	t.Run("are not silent between two of them", func(t *testing.T) {
		o := jobs()
		for since, silent := range map[time.Duration]bool{time.Hour: false, 7 * day: false, 8*day + time.Hour: true} {
			r, _ := ran(t, &o, Uniform, since, daily(10)...)
			if why := o.KeepsCPU(&r); strings.HasPrefix(why, "no CPU has been measured since") != silent {
				t.Errorf("after %v: %q", since, why)
			}
		}
	})
	t.Run("need no hours of a new version, since those of the version before do not count", func(t *testing.T) {
		o := jobs()
		r, _ := ran(t, &o, Uniform, time.Hour, daily(10)...)
		if r.New = time.Hour; o.KeepsCPU(&r)+o.KeepsMemory(&r, true) != "" {
			t.Error(o.KeepsCPU(&r), o.KeepsMemory(&r, true))
		}
	})
	t.Run("say nothing against what keeps sizes of others", func(t *testing.T) {
		o := jobs()
		r, _ := ran(t, &o, Uniform, time.Hour, daily(10)...)
		r.Throttled = 0.5
		if o.KeepMemory = true; !strings.Contains(o.KeepsCPU(&r), "throttled") || o.KeepsMemory(&r, false) != neverLower || o.keepsLimit(&r) != neverLower {
			t.Errorf("%q, %q", o.KeepsCPU(&r), o.KeepsMemory(&r, false))
		}
	})
}

// TestRandomRuns runs Jobs at any time, on any nodes: a size is lowered if and only if ten successful runs are known of three days,
// and memory is never below what any of them used.
func TestRandomRuns(t *testing.T) {
	lowered := 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 3))
		all := make([]oneRun, 1+random.IntN(25))
		within := 1 + random.IntN(6)
		for i := range all {
			all[i] = oneRun{
				at: began.Add(time.Duration(random.Int64N(int64(within) * int64(day)))).Truncate(time.Second), nodeType: []string{"n2d", "c3"}[random.IntN(2)],
				memory: int64(50e6 * (1 + random.IntN(40))), failed: random.IntN(4) == 0, moments: random.IntN(4) == 0,
			}
		}
		slices.SortFunc(all, func(a, b oneRun) int { return a.at.Compare(b.at) })
		runs, days, highest := 0, map[int64]bool{}, int64(0)
		for i, r := range all {
			if i > 0 && r.at.Sub(all[i-1].at) < 10*time.Minute {
				all[i].at = all[i-1].at.Add(10 * time.Minute)
			}
			if highest = max(highest, r.memory); !r.failed {
				runs++
				days[all[i].at.Add(9*time.Minute).Unix()/86400] = true
			}
		}
		for _, o := range []Options{DefaultOptions(), FollowOptions()} {
			o.ByRuns = true
			o.Limits.Memory = need.Follow
			r, _ := ran(t, &o, Uniform, time.Hour, all...)
			proven := runs >= 10 && len(days) >= 3
			if got := o.KeepsCPU(&r) == ""; got != proven || (o.KeepsMemory(&r, false) == "") != proven {
				t.Errorf("seed %d: %d runs on %d days: %q", seed, runs, len(days), o.KeepsCPU(&r))
			}
			if r.Target.Memory < highest {
				t.Errorf("seed %d: %d bytes, but %d were used", seed, r.Target.Memory, highest)
			}
			if proven {
				lowered++
			}
		}
	}
	if lowered < 20 {
		t.Errorf("only %d sizes may be lowered", lowered)
	}
}
