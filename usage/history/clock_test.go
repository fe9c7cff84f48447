package history

import (
	"math"
	"testing"
	"time"
)

func TestAClockThatWasAhead(t *testing.T) {
	for _, test := range []struct {
		name  string
		ahead time.Duration
	}{
		{"by an hour", time.Hour},
		{"by a day and a half", 36 * time.Hour},
		{"by a year", 365 * 24 * time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.options.Hours = true
			other := Pod{UID: "other", NodeType: "n2d"}
			record := func(p Pod, at time.Time, millicores, bytes int64, now time.Time) {
				t.Helper()
				if err := f.Record(web, Sample{Pod: p, At: at, Usage: millicores, Pressure: 0.5, Throttled: true}, now); err != nil {
					t.Error(err)
				}
				if err := f.Record(web, Sample{Pod: p, Resource: Memory, At: at, Usage: bytes, Length: time.Minute}, now); err != nil {
					t.Error(err)
				}
			}
			record(slow, began, 100, 100e6, began)
			record(other, began, 100, 100e6, began)
			record(fast, began, 100, 100e6, began)
			wrong := began.Add(time.Minute + test.ahead)
			record(slow, wrong, 2000, 2000e6, wrong)
			if err := f.RecordKill(web, Kill{Pod: slow, At: wrong, Limit: 2000e6}, wrong); err != nil {
				t.Error(err)
			}
			// Two days of samples weigh three times as much as the minute of the wrong clock.
			at := began
			for range 48 * 60 {
				at = at.Add(time.Minute)
				record(slow, at.Add(time.Minute), 100, 100e6, at.Add(time.Minute))
			}
			record(other, at, 100, 100e6, at)
			v, _ := f.View(web, at)
			n2d := v.Types[1]
			if n2d.Last.After(at.Add(Skew)) || n2d.First.Before(began.Add(-test.ahead)) || n2d.First.After(began) {
				t.Errorf("from %v to %v", n2d.First, n2d.Last)
			}
			for _, h := range []struct {
				name   string
				p, got float64
			}{
				{"CPU", 0.12, n2d.CPU.Percentile(0.9)},
				{"pressed CPU", 0.17, n2d.Pressed.Percentile(0.9)},
				{"memory", 120e6, n2d.Memory.Percentile(0.5)},
			} {
				if h.got > h.p {
					t.Errorf("%s is %v", h.name, h.got)
				}
			}
			if cpu, _, highest := v.Known(v.Types); n2d.Throttled != 1 || cpu.Coverage < 0.9 || highest.Begin.After(began) {
				t.Errorf("throttled %v, known %+v, peaks %+v", n2d.Throttled, cpu, highest)
			}
			if usage, known := n2d.Peak(CPU, wrong.Add(7*24*time.Hour)); known && usage == 2000 {
				t.Error("the hour of the wrong clock has a peak")
			}
			if f.newest.After(at.Add(2 * time.Minute)) {
				t.Errorf("newest sample at %v", f.newest)
			}
			if err := f.RecordKill(web, Kill{Pod: slow, At: at, Limit: 2000e6}, at); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("is tolerated by a minute", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began.Add(Skew), 100)
		if err := f.Record(web, Sample{Pod: fast, At: began}, began); err != nil {
			t.Error(err)
		}
		if v, _ := f.View(web, began); !v.Types[1].Last.Equal(began.Add(Skew)) || !f.newest.Equal(began.Add(Skew)) {
			t.Errorf("moved to %v, newest %v", v.Types[1].Last, f.newest)
		}
	})
}

// TestWindowsOfAClockThatWasAhead looks at windows: they decide which peaks count together.
func TestWindowsOfAClockThatWasAhead(t *testing.T) {
	const ahead = time.Hour
	wrong := began.Add(ahead)
	sample := func(f *fixture, p Pod, at, now time.Time) {
		t.Helper()
		if err := f.Record(web, Sample{Pod: p, Resource: Memory, At: at, Usage: 1e8, Length: time.Minute}, now); err != nil {
			t.Error(err)
		}
	}
	kill := func(f *fixture, p Pod, at, now time.Time) {
		t.Helper()
		if err := f.RecordKill(web, Kill{Pod: p, At: at, Limit: 1e8}, now); err != nil {
			t.Error(err)
		}
	}
	for name, change := range map[string]func(f *fixture){
		"by a sample": func(f *fixture) { sample(f, slow, wrong, wrong) },
		"by a kill":   func(f *fixture) { kill(f, slow, wrong, wrong) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			other := Pod{UID: "other", NodeType: "n2d"}
			sample(f, other, began, began)
			sample(f, fast, began, began)
			change(f)
			// A sample of now corrects what lies in the future, which then is of now. The other pod
			// on that node type keeps its place among the peaks.
			sample(f, fast, began.Add(1), began)
			for _, test := range []struct {
				pod Pod
				end time.Time
			}{
				{slow, began.Add(24*time.Hour - 1)},
				{other, began.Add(23*time.Hour - 1)},
				{fast, began.Add(24 * time.Hour)},
			} {
				if end := f.containers[web].Windows[IDOf(test.pod.UID)].End; !end.Equal(test.end) {
					t.Errorf("the window of %s ends at %v, want %v", test.pod.UID, end, test.end)
				}
			}
		})
	}
}

// TestPeaksOfAClockThatWasAhead looks at a pod that was never ahead, whose peak grows after that.
func TestPeaksOfAClockThatWasAhead(t *testing.T) {
	f := newFixture(t)
	day := 24 * time.Hour
	f.memory(slow, began, 100e6)
	f.memory(Pod{UID: "other", NodeType: "n2d"}, began, 100e6)
	f.memory(Pod{UID: "third", NodeType: "n2d"}, began.Add(-day), 100e6)
	f.memory(Pod{UID: "third", NodeType: "n2d"}, began, 300e6)
	f.memory(slow, began.Add(day/2), 500e6)
	f.clock = began.Add(time.Minute)
	f.memory(Pod{UID: "other", NodeType: "n2d"}, f.clock, 150e6)
	f.want("n2d", "110M:14", "159M:29", "305M:29", "511M:29")
}

func TestThrottledByAClockThatWasAhead(t *testing.T) {
	f := newFixture(t)
	record := func(at time.Time, throttled bool) {
		t.Helper()
		if err := f.Record(web, Sample{Pod: slow, At: at, Usage: 100, Throttled: throttled}, at); err != nil {
			t.Error(err)
		}
	}
	record(began, false)
	record(began.Add(48*time.Hour), true)
	record(began.Add(time.Minute), false)
	v, _ := f.View(web, began.Add(time.Minute))
	// The first sample stays two half-lives older than the second one.
	if want := 1 / (0.25 + 1 + 1); math.Abs(v.Types[0].Throttled-want) > 0.001 {
		t.Errorf("%v of the samples are throttled, want %v", v.Types[0].Throttled, want)
	}
}
