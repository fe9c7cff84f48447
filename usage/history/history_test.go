package history

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var (
	web   = Container{Namespace: "shop", Kind: "Deployment", Workload: "web", Name: "main"}
	began = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	slow  = Pod{UID: "a", NodeType: "n2d"}
	fast  = Pod{UID: "b", NodeType: "c3"}
)

const mib = 1 << 20

// fixture is a history with options that can change.
type fixture struct {
	*testing.T
	*History
	options Options
	clock   time.Time
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, options: DefaultOptions()}
	f.History = New(func(Container) Options { return f.options })
	return f
}

// now returns the time of the newest measurement.
func (f *fixture) now(at time.Time) time.Time {
	if at.After(f.clock) {
		f.clock = at
	}
	return f.clock
}

// cpu records millicores.
func (f *fixture) cpu(p Pod, at time.Time, usage int64) {
	f.Helper()
	if err := f.Record(web, Sample{Pod: p, Resource: CPU, At: at, Usage: usage}, f.now(at)); err != nil {
		f.Fatal(err)
	}
}

// memory records bytes.
func (f *fixture) memory(p Pod, at time.Time, usage int64) {
	f.Helper()
	if err := f.Record(web, Sample{Pod: p, Resource: Memory, At: at, Usage: usage}, f.now(at)); err != nil {
		f.Fatal(err)
	}
}

// kill records a kill.
func (f *fixture) kill(k Kill) {
	f.Helper()
	if err := f.RecordKill(web, k, f.now(k.At)); err != nil {
		f.Fatal(err)
	}
}

// peaks returns the upper edges of the peaks of a node type, with their shares in percent.
func (f *fixture) peaks(nodeType string) (all []string) {
	f.Helper()
	v, _ := f.View(web, began)
	for _, t := range v.Types {
		if t.NodeType == nodeType {
			for b := range t.Memory.Bars() {
				all = append(all, fmt.Sprintf("%.0fM:%.0f", b.To/1e6, b.Share*100))
			}
		}
	}
	return all
}

func (f *fixture) want(nodeType string, peaks ...string) {
	f.Helper()
	if got := f.peaks(nodeType); !slices.Equal(got, peaks) {
		f.Errorf("peaks %v, want %v", got, peaks)
	}
}

func TestMemory(t *testing.T) {
	day := 24 * time.Hour
	t.Run("counts one peak per window", func(t *testing.T) {
		f := newFixture(t)
		for i, usage := range []int64{100e6, 300e6, 200e6} {
			f.memory(slow, began.Add(time.Duration(i)*time.Hour), usage)
		}
		f.want("n2d", "305M:100")
	})
	t.Run("begins a window when the first one ends, with the first sample", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 300e6)
		f.memory(slow, began.Add(day-1), 100e6)
		f.want("n2d", "305M:100")
		f.memory(slow, began.Add(day), 100e6)
		f.want("n2d", "110M:67", "305M:33")
	})
	t.Run("keeps the anchor of windows after a silence", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 300e6)
		f.memory(slow, began.Add(day+23*time.Hour), 100e6)
		f.memory(slow, began.Add(2*day), 100e6)
		f.want("n2d", "110M:86", "305M:14")
	})
	t.Run("counts nothing of a window that begins with nothing, as in the VPA", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 0)
		f.memory(slow, began.Add(time.Minute), 300e6)
		f.want("n2d", "10M:100")
		f.memory(slow, began.Add(day), 300e6)
		f.want("n2d", "10M:33", "305M:67")
	})
	t.Run("counts a window that begins with nothing where that is an option", func(t *testing.T) {
		f := newFixture(t)
		f.options.FromNothing = true
		f.memory(slow, began, 0)
		f.want("n2d", "10M:100")
		f.memory(slow, began.Add(time.Minute), 300e6)
		f.want("n2d", "305M:100")
		f.memory(slow, began.Add(day), 0)
		f.kill(Kill{Pod: slow, At: began.Add(day + time.Minute), Limit: 1e9})
		f.want("n2d", "305M:33", "1208M:67")
	})
	t.Run("counts the peaks of each pod", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100e6)
		f.memory(Pod{UID: "c", NodeType: "n2d"}, began, 300e6)
		f.want("n2d", "110M:50", "305M:50")
	})
	t.Run("keeps node types apart", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100e6)
		f.memory(fast, began, 300e6)
		f.want("n2d", "110M:100")
		f.want("c3", "305M:100")
	})
	t.Run("continues on another node type if a node's type changes", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100e6)
		f.memory(Pod{UID: slow.UID, NodeType: "c3"}, began.Add(time.Hour), 300e6)
		f.want("n2d", "110M:100")
		f.want("c3", "305M:100")
		f.memory(Pod{UID: slow.UID, NodeType: "c3"}, began.Add(2*time.Hour), 400e6)
		f.want("c3", "414M:100")
	})
	t.Run("keeps what a pod used after it ended", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 300e6)
		f.Forget(web, slow.UID)
		f.Forget(Container{}, slow.UID)
		f.want("n2d", "305M:100")
		f.memory(slow, began.Add(time.Hour), 100e6) // a new window
		f.want("n2d", "110M:51", "305M:49")
	})
}

// TestLateMemory looks at measurements that come after newer ones, for example from a backfill.
func TestLateMemory(t *testing.T) {
	day := 24 * time.Hour
	late := func(f *fixture, at time.Time, usage int64, want error) {
		f.Helper()
		if err := f.Record(web, Sample{Pod: slow, Resource: Memory, At: at, Usage: usage}, f.clock); !errors.Is(err, want) {
			f.Errorf("%v: %v, want %v", at, err, want)
		}
	}
	t.Run("raises the peak of its window, once", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100e6)
		f.memory(slow, began.Add(2*time.Hour), 100e6)
		late(f, began.Add(time.Hour), 300e6, nil)
		late(f, began.Add(time.Hour), 300e6, ErrRepeated)
		late(f, began.Add(time.Hour-1), 200e6, ErrRepeated)
		f.want("n2d", "305M:100")
		f.memory(slow, began.Add(2*time.Hour), 400e6) // the time of the newest one
		f.want("n2d", "414M:100")
	})
	t.Run("raises the peak of the window before, and knows what was counted", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 300e6)
		f.memory(slow, began.Add(day), 100e6)
		late(f, began.Add(day-1), 300e6, ErrRepeated)
		late(f, began, 200e6, ErrRepeated)
		f.want("n2d", "110M:67", "305M:33")
		late(f, began.Add(day-1), 400e6, nil)
		f.want("n2d", "110M:67", "414M:33")
	})
	t.Run("is rejected in windows before that, which are forgotten", func(t *testing.T) {
		f := newFixture(t)
		for i := range 3 {
			f.memory(slow, began.Add(time.Duration(i)*day), 100e6)
		}
		late(f, began.Add(day-1), 300e6, ErrRepeated)
		late(f, began.Add(day), 300e6, nil)
	})
	t.Run("counts in a window without any", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100e6)
		f.memory(slow, began.Add(3*day), 100e6)
		late(f, began.Add(3*day-1), 200e6, nil)
		late(f, began.Add(2*day), 300e6, nil)
		late(f, began.Add(2*day-1), 300e6, ErrRepeated)
		f.want("n2d", "110M:69", "305M:31")
	})
	t.Run("is rejected on the node type before, whose windows are forgotten", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100e6)
		f.memory(Pod{UID: slow.UID, NodeType: "c3"}, began.Add(time.Hour), 200e6)
		if err := f.Record(web, Sample{Pod: Pod{UID: slow.UID, NodeType: "c3"}, Resource: Memory, At: began, Usage: 300e6}, f.clock); !errors.Is(err, ErrRepeated) {
			t.Error(err)
		}
	})
	for compat, want := range map[bool][]string{
		false: {"305M:20", "414M:27", "584M:53"}, // one of each of three days, and the kill
		true:  {"584M:100"},                      // as in the VPA: the kill is newer
	} {
		t.Run(fmt.Sprintf("before a kill is a backfill, unless it must be as in the VPA: %v", compat), func(t *testing.T) {
			f := newFixture(t)
			f.options.Compat = compat
			f.kill(Kill{Pod: slow, At: began, Limit: 450e6, Request: 450e6})
			for hour := -50; hour < 0; hour++ {
				usage, counts := int64(400e6), error(nil)
				if hour < -24 {
					usage = 300e6
				}
				if compat {
					counts = ErrRepeated
				}
				late(f, began.Add(time.Duration(hour)*time.Hour), usage, counts)
			}
			f.want("n2d", want...)
			v, _ := f.View(web, began)
			if _, memory, _ := v.Known(v.Types); !compat && memory.Begin.After(began.Add(-50*time.Hour)) {
				t.Errorf("known since %v", memory.Begin)
			}
		})
	}
	t.Run("after a kill counts if it is older than the kill", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100*mib)
		f.kill(Kill{Pod: slow, At: began.Add(time.Hour), Limit: 100 * mib, Request: 100 * mib})
		late(f, began.Add(time.Minute), 500*mib, nil)
		if got := f.containers[web].Windows[IDOf("a")].highest(); got != 500*mib {
			t.Errorf("%d MiB", got/mib)
		}
	})
	t.Run("does not raise what a kill in the window before counts from", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 500*mib)
		f.memory(slow, began.Add(day), 2000*mib)
		f.kill(Kill{Pod: slow, At: began.Add(day - 1), Limit: 600 * mib, Request: 600 * mib})
		w := f.containers[web].Windows[IDOf("a")]
		if w.Past.highest() != 720*mib || w.highest() != 2000*mib {
			t.Errorf("%d and %d MiB", w.Past.highest()/mib, w.highest()/mib)
		}
	})
}

func TestKill(t *testing.T) {
	at := began.Add(time.Hour)
	for _, test := range []struct {
		name    string
		request bool
		kill    Kill
		peak    int64
		want    int64
	}{
		{"counts 20% more than a limit equal to the request", false, Kill{Limit: 1000 * mib, Request: 1000 * mib}, 0, 1200 * mib},
		{"counts at least 100 MiB more", false, Kill{Limit: 200 * mib, Request: 200 * mib}, 0, 300 * mib},
		{"counts the limit if it is twice the request", false, Kill{Limit: 1000 * mib, Request: 500 * mib}, 0, 1000 * mib},
		{"counts in proportion if the limit is a little above the request", false, Kill{Limit: 1000 * mib, Request: 900 * mib}, 0, 1080 * mib},
		{"does not count from the request", false, Kill{Request: 5000 * mib}, 1000 * mib, 1200 * mib},
		{"counts from the peak if it is above the limit", false, Kill{Limit: 500 * mib, Request: 500 * mib}, 1000 * mib, 1200 * mib},
		{"counts from the usage that an eviction reports", false, Kill{Usage: 2000 * mib, Request: 100 * mib}, 1000 * mib, 2400 * mib},
		{"counts from the request if compatible with the VPA", true, Kill{Request: 2000 * mib, Limit: 4000 * mib}, 1000 * mib, 2400 * mib},
		{"counts from the limit if there is no request", false, Kill{Limit: 1000 * mib}, 0, 1200 * mib},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.options.Compat = test.request
			if test.peak > 0 {
				f.memory(slow, began, test.peak)
			}
			test.kill.Pod, test.kill.At = slow, at
			f.kill(test.kill)
			if got := f.containers[web].Windows[IDOf("a")].highest(); got != max(test.want, test.peak) {
				t.Errorf("%d MiB, want %d MiB", got/mib, test.want/mib)
			}
		})
	}
	t.Run("counts once", func(t *testing.T) {
		f := newFixture(t)
		f.kill(Kill{Pod: slow, At: at, Limit: 100 * mib})
		for _, again := range []time.Time{at, at.Add(-time.Minute)} {
			if err := f.RecordKill(web, Kill{Pod: slow, At: again, Limit: 500 * mib}, at); !errors.Is(err, ErrRepeated) {
				t.Errorf("killed again at %v: %v", again, err)
			}
		}
	})
	t.Run("never feeds itself", func(t *testing.T) {
		f := newFixture(t)
		for i := range 20 {
			request := int64(1000 * mib)
			if i > 0 {
				request = f.containers[web].Windows[IDOf("a")].KillPeak // what the kill before led to
			}
			f.kill(Kill{Pod: slow, At: at.Add(time.Duration(i) * time.Minute), Limit: 1000 * mib, Request: min(request, 1000*mib)})
		}
		if got := f.containers[web].Windows[IDOf("a")].KillPeak; got != 1200*mib {
			t.Errorf("%d MiB after 20 kills at 1000 MiB", got/mib)
		}
	})
	for compat, want := range map[bool]int64{false: 300 * mib, true: 200 * mib} {
		t.Run(fmt.Sprintf("counts from the usage after the kill before, unless it must be as in the VPA: %v", compat), func(t *testing.T) {
			f := newFixture(t)
			f.options.Compat = compat
			f.memory(slow, began, 100*mib)
			f.kill(Kill{Pod: slow, At: at})
			f.memory(slow, at.Add(time.Minute), 200*mib)
			f.memory(slow, at.Add(time.Minute+1), 150*mib)
			f.kill(Kill{Pod: slow, At: at.Add(2 * time.Minute)})
			if got := f.containers[web].Windows[IDOf("a")].highest(); got != want {
				t.Errorf("%d MiB, want %d MiB", got/mib, want/mib)
			}
		})
	}
	t.Run("is replaced by a higher usage in its window", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100*mib)
		f.kill(Kill{Pod: slow, At: at, Limit: 200 * mib, Request: 200 * mib})
		f.memory(slow, at.Add(time.Minute), 250*mib)
		f.want("n2d", "331M:100")
		f.memory(slow, at.Add(time.Minute), 400*mib)
		f.want("n2d", "445M:100")
	})
	for _, test := range []struct {
		name string
		kill Kill
		want error
	}{
		{"without a time", Kill{Limit: 1}, ErrTime},
		{"in the future", Kill{At: at.Add(time.Hour), Limit: 1}, ErrFuture},
		{"with a negative limit", Kill{At: at, Limit: -1}, ErrImplausible},
		{"with a negative request", Kill{At: at, Limit: 1, Request: -1}, ErrImplausible},
		{"with a negative usage", Kill{At: at, Limit: 1, Usage: -1}, ErrImplausible},
		{"with too large a limit", Kill{At: at, Limit: most + 1}, ErrImplausible},
		{"with too large a request", Kill{At: at, Limit: 1, Request: most + 1}, ErrImplausible},
		{"with too large a usage", Kill{At: at, Usage: most + 1}, ErrImplausible},
		{"of which nothing is known but the request", Kill{At: at, Request: 1}, ErrUnknown},
		{"more than an interval before the last sample", Kill{At: began.Add(-25 * time.Hour), Limit: 1}, ErrExpired},
		{"older than the history", Kill{At: at.Add(-8 * 24 * time.Hour), Limit: 1}, ErrExpired},
	} {
		t.Run("is rejected "+test.name, func(t *testing.T) {
			f := newFixture(t)
			test.kill.Pod = slow
			if errors.Is(test.want, ErrExpired) {
				f.memory(slow, began, 1)
			}
			if err := f.RecordKill(web, test.kill, at); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
	t.Run("is rejected when the history has expired, not earlier", func(t *testing.T) {
		for age, want := range map[time.Duration]error{8*24*time.Hour - 1: nil, 8 * 24 * time.Hour: ErrExpired} {
			f := newFixture(t)
			if err := f.RecordKill(web, Kill{Pod: slow, At: at.Add(-age), Limit: 1}, at); !errors.Is(err, want) {
				t.Errorf("a kill of %v ago: %v, want %v", age, err, want)
			}
		}
	})
	t.Run("is accepted an interval before the last sample, and at the bounds", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 1)
		f.kill(Kill{Pod: slow, At: began.Add(-24 * time.Hour), Limit: most, Request: most, Usage: most})
		if got := f.containers[web].Windows[IDOf("a")].Past.highest(); got != most {
			t.Errorf("%v bytes, want at most %v", got, float64(most))
		}
		if err := f.RecordKill(web, Kill{Pod: slow, At: began.Add(Skew), Limit: 1}, began); err != nil {
			t.Error(err)
		}
	})
}

func TestCPU(t *testing.T) {
	f := newFixture(t)
	f.cpu(slow, began, 100)
	f.cpu(slow, began.Add(time.Hour), 200)
	f.cpu(fast, began.Add(-time.Hour), 400)
	v, _ := f.View(web, began.Add(time.Hour))
	if len(v.Types) != 2 || v.Types[0].NodeType != "c3" || v.Types[1].NodeType != "n2d" {
		t.Fatalf("node types %+v", v.Types)
	}
	n2d := v.Types[1]
	if n2d.Samples != 2 || !n2d.First.Equal(began) || !n2d.Last.Equal(began.Add(time.Hour)) {
		t.Errorf("%d samples from %v to %v", n2d.Samples, n2d.First, n2d.Last)
	}
	if got := n2d.CPU.Percentile(1); math.Abs(got/0.2157856-1) > 1e-3 {
		t.Errorf("highest %v", got)
	}
	cpu, memory, highest := v.Known(v.Types)
	if !cpu.Begin.Equal(began.Add(-time.Hour)) || memory != (Known{}) || highest != (Known{}) {
		t.Errorf("known: %+v, %+v, %+v", cpu, memory, highest)
	}
	t.Run("of another pod may be older", func(t *testing.T) {
		f.cpu(Pod{UID: "old", NodeType: "n2d"}, began.Add(-2*time.Hour), 100)
		v, _ := f.View(web, began)
		if n2d := v.Types[1]; !n2d.First.Equal(began.Add(-2*time.Hour)) || !n2d.Last.Equal(began.Add(time.Hour)) {
			t.Errorf("samples from %v to %v", n2d.First, n2d.Last)
		}
	})
	t.Run("adds the time that a container waited to what it used", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began, 1000)
		at := began.Add(time.Minute)
		if err := f.Record(web, Sample{Pod: slow, At: at, Usage: 1000, Pressure: 0.5}, at); err != nil {
			t.Fatal(err)
		}
		f.cpu(slow, at.Add(time.Minute), 100)
		v, _ := f.View(web, began)
		if got, want := v.Types[0].Pressed.Percentile(1), 1.5; got < want || got > want*1.06 {
			t.Errorf("highest with waiting %v, want %v", got, want)
		}
		if got := v.Types[0].CPU.Percentile(1); got > 1.06 {
			t.Errorf("highest %v", got)
		}
		if v.Types[0].Pressed.Percentile(0.5) != v.Types[0].CPU.Percentile(0.5) {
			t.Error("samples without pressure differ")
		}
	})
	t.Run("equals CPU with pressure if no pressure is known", func(t *testing.T) {
		if n2d.Pressed != n2d.CPU {
			t.Error("a second histogram")
		}
	})
	t.Run("knows the share of throttled samples", func(t *testing.T) {
		f := newFixture(t)
		for i := range 4 {
			at := began.Add(time.Duration(i) * time.Second)
			if err := f.Record(web, Sample{Pod: slow, At: at, Usage: 1000, Throttled: i == 0}, at); err != nil {
				t.Fatal(err)
			}
		}
		if v, _ := f.View(web, began); math.Abs(v.Types[0].Throttled-0.25) > 1e-4 {
			t.Errorf("throttled %v, want 0.25", v.Types[0].Throttled)
		}
	})
}

func TestRejectedSamples(t *testing.T) {
	at := began.Add(24 * time.Hour)
	for _, test := range []struct {
		name   string
		sample Sample
		want   error
	}{
		{"negative", Sample{At: at, Usage: -1}, ErrImplausible},
		{"too large", Sample{At: at, Usage: most + 1}, ErrImplausible},
		{"of a negative pressure", Sample{At: at, Pressure: -0.1}, ErrImplausible},
		{"of a pressure above 1", Sample{At: at, Pressure: 1.1}, ErrImplausible},
		{"of a pressure that is not a number", Sample{At: at, Pressure: math.NaN()}, ErrImplausible},
		{"without a time", Sample{}, ErrTime},
		{"of a negative length", Sample{At: at, Length: -1}, ErrTime},
		{"in the future", Sample{At: at.Add(Skew + 1)}, ErrFuture},
		{"of a year ahead", Sample{At: at.AddDate(1, 0, 0)}, ErrFuture},
		{"older than the history", Sample{At: at.Add(-8 * 24 * time.Hour)}, ErrExpired},
		{"repeated", Sample{At: began}, ErrRepeated},
		{"out of order", Sample{At: began.Add(-time.Minute)}, ErrRepeated},
		{"of memory, repeated", Sample{Resource: Memory, At: began, Usage: 90e6}, ErrRepeated},
		{"of memory, out of order and not a peak", Sample{Resource: Memory, At: began.Add(-1), Usage: 100e6}, ErrRepeated},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.cpu(slow, began.Add(-time.Minute), 500)
			f.cpu(slow, began, 500)
			f.memory(slow, began.Add(-time.Minute), 100e6)
			f.memory(slow, began, 90e6)
			before := f.text()
			test.sample.Pod = slow
			if err := f.Record(web, test.sample, at); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			if after := f.text(); before != after {
				t.Errorf("the history has changed from\n%s\nto\n%s", before, after)
			}
		})
	}
	for _, sample := range []Sample{
		{At: at.Add(Skew), Usage: most}, {At: at.Add(-8*24*time.Hour + 1)}, {At: at, Pressure: 1},
		{At: began, Resource: Memory, Usage: 100e6 + 1},
	} {
		f := newFixture(t)
		sample.Pod = slow
		if sample.Resource == Memory {
			f.memory(slow, began, 100e6)
		}
		if err := f.Record(web, sample, at); err != nil {
			t.Errorf("%+v: %v", sample, err)
		}
	}
	t.Run("conversion rejects what is no amount", func(t *testing.T) {
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -1e-12, 2e14} {
			if got, ok := Bytes(x); ok {
				t.Errorf("%v is %d", x, got)
			}
		}
		for x, want := range map[float64]int64{0: 0, 0.0001: 1, 0.001: 1, 0.0011: 2, 1.0 / 3: 334, 1.1: 1100} {
			if got, ok := Millicores(x); !ok || got != want {
				t.Errorf("%v cores are %d millicores, want %d", x, got, want)
			}
		}
		if got, ok := Bytes(most); !ok || got != most {
			t.Errorf("%v, %v", got, ok)
		}
	})
}

func TestExpiry(t *testing.T) {
	kept := 8 * 24 * time.Hour
	t.Run("deletes a node type 8 days after its last sample, and then the container", func(t *testing.T) {
		f := newFixture(t)
		other := Container{Workload: "other"}
		later := began.Add(kept - time.Hour)
		f.cpu(slow, began, 1)
		f.memory(fast, later, 1)
		expire := func(at time.Time, types int) {
			t.Helper()
			if err := f.Record(other, Sample{Pod: Pod{UID: at.String()}, At: at}, at); err != nil {
				t.Fatal(err)
			}
			f.Expire(at)
			if v, known := f.View(web, at); len(v.Types) != types || known != (types > 0) {
				t.Errorf("%d node types at %v, want %d", len(v.Types), at, types)
			}
		}
		expire(began.Add(kept-1), 2)
		expire(began.Add(kept), 1)
		expire(later.Add(kept-1), 1)
		expire(later.Add(kept), 0)
		if got := f.Containers(); !slices.Equal(got, []Container{other}) {
			t.Errorf("containers %v", got)
		}
	})
	t.Run("deletes nothing while no source delivers, and nothing if a clock jumps", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began, 1)
		f.Expire(began.AddDate(1, 0, 0))
		if len(f.Containers()) != 1 {
			t.Error("the history has expired")
		}
	})
	t.Run("does not depend on samples that are newer than the clock", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began, 1)
		f.cpu(fast, began.Add(20*24*time.Hour), 1)
		f.Expire(began)
		if v, _ := f.View(web, began); len(v.Types) != 2 {
			t.Errorf("%d node types", len(v.Types))
		}
	})
	t.Run("releases pods that were not seen for 8 days", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began, 1)
		f.memory(fast, began, 1)
		at := began
		for at.Before(began.Add(9*24*time.Hour + time.Hour)) {
			at = at.Add(time.Hour)
			f.cpu(Pod{UID: "c", NodeType: "n2d"}, at, 1)
			f.cpu(Pod{UID: "d", NodeType: "c3"}, at, 1)
		}
		f.Expire(at)
		if got := len(f.containers[web].Windows); got != 2 {
			t.Errorf("%d pods, want 2", got)
		}
	})
	t.Run("releases the pods of a node type that expires, and only those", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began, 1)
		f.cpu(fast, began.Add(kept), 1)
		f.Expire(began.Add(kept))
		if got := f.containers[web].Windows; len(got) != 1 || got[IDOf(fast.UID)] == nil {
			t.Errorf("pods %v", got)
		}
	})
	t.Run("keeps a job that runs every minute under one key", func(t *testing.T) {
		f := newFixture(t)
		var most int
		for minute := range 7 * 24 * 60 {
			at := began.Add(time.Duration(minute) * time.Minute)
			pod := Pod{UID: fmt.Sprint(minute), NodeType: "n2d"}
			f.cpu(pod, at, 100)
			f.memory(pod, at, 100e6)
			f.Forget(web, pod.UID)
			most = max(most, len(f.text()))
		}
		if len(f.Containers()) != 1 || most > 2000 {
			t.Errorf("%d keys, %d characters", len(f.Containers()), most)
		}
	})
}

func TestOptions(t *testing.T) {
	t.Run("apply to future samples and lose nothing", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began, 100)
		f.cpu(slow, began.Add(time.Hour), 1000)
		f.memory(slow, began, 100e6)
		at := began.Add(time.Hour)
		if err := f.Record(web, Sample{Pod: slow, Resource: CPU, At: at.Add(1), Usage: 1000, Pressure: 0.5, Throttled: true}, at); err != nil {
			t.Fatal(err)
		}
		v, _ := f.View(web, at)
		median, memory, pressed, throttled := v.Types[0].CPU.Percentile(0.5), v.Types[0].Memory.Percentile(0.5), v.Types[0].Pressed.Percentile(1), v.Types[0].Throttled
		f.options.CPUHalfLife, f.options.MemoryHalfLife, f.options.Interval = 7*24*time.Hour, 48*time.Hour, time.Hour
		f.cpu(slow, at.Add(time.Minute), 1000)
		v, _ = f.View(web, at)
		if v.Types[0].CPU.Percentile(0.5) != median || v.Types[0].Memory.Percentile(0.5) != memory || v.Types[0].Pressed.Percentile(1) != pressed {
			t.Error("the distribution has changed")
		}
		if want := throttled * 3 / 4; math.Abs(v.Types[0].Throttled-want) > 0.01 {
			t.Errorf("throttled %v, want %v", v.Types[0].Throttled, want)
		}
	})
	t.Run("apply to all histograms of a container", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began, 1)
		if err := f.Record(web, Sample{Pod: fast, At: began, Usage: 1, Pressure: 0.5}, began); err != nil {
			t.Fatal(err)
		}
		f.options.CPUHalfLife = time.Hour
		f.cpu(slow, began.Add(time.Minute), 1)
		now := began.Add(10 * time.Hour)
		f.cpu(slow, now, 4000)
		if err := f.Record(web, Sample{Pod: fast, At: now, Usage: 4000, Pressure: 0.5}, now); err != nil {
			t.Fatal(err)
		}
		// After ten half-lives, the old samples have a thousandth of the weight.
		v, _ := f.View(web, now)
		for _, s := range v.Types {
			if low, high := s.CPU.Percentile(0.01), s.Pressed.Percentile(0.01); low < 3.9 || high < 3.9 {
				t.Errorf("%s: lowest percentiles %v and %v", s.NodeType, low, high)
			}
		}
	})
	t.Run("set the length of windows", func(t *testing.T) {
		f := newFixture(t)
		f.options.Interval = time.Hour
		f.memory(slow, began, 300e6)
		f.memory(slow, began.Add(time.Hour), 100e6)
		f.want("n2d", "110M:51", "305M:49")
	})
	t.Run("set how long history is kept", func(t *testing.T) {
		o := DefaultOptions()
		if o.Kept() != 8*24*time.Hour {
			t.Errorf("kept for %v", o.Kept())
		}
	})
}

func TestContainers(t *testing.T) {
	f := newFixture(t)
	all := []Container{{"a", "b", "c", "d"}, {"a", "b", "c", "e"}, {"a", "b", "d", "a"}, {"a", "c", "a", "a"}, {"b", "a", "a", "a"}}
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(all)) {
		if err := f.Record(all[i], Sample{Pod: slow, At: began, Usage: 1}, began); err != nil {
			t.Fatal(err)
		}
	}
	if got := slices.SortedFunc(slices.Values(f.Containers()), Container.Compare); !slices.Equal(got, all) {
		t.Errorf("containers %v", got)
	}
	if _, known := f.View(Container{}, began); known {
		t.Error("a container without samples has a history")
	}
}
