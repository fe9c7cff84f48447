package history

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workload-resizer/workload-resizer/test/footprint"
)

// filled returns a history with everything that a history can have.
func filled(t *testing.T) *fixture {
	f := newFixture(t)
	f.options.Hours = true
	for i := range 500 {
		at := began.Add(time.Duration(i) * 10 * time.Minute)
		for j, pod := range []Pod{slow, fast} {
			s := Sample{Pod: pod, At: at, Usage: int64(100 + 7*i%300 + j), Throttled: i%9 == 0, Pressure: float64(j*(i%3)) / 10}
			if err := f.Record(web, s, at); err != nil {
				t.Fatal(err)
			}
			memory := Sample{Pod: pod, Resource: Memory, At: at, Usage: int64(1e8 + 1e6*(i*13%100))}
			if i > 0 && i%3 == 0 {
				memory.Length = 10 * time.Minute
			}
			if err := f.Record(web, memory, f.now(at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.kill(Kill{Pod: slow, At: began.Add(70 * time.Hour), Limit: 300 * mib})
	second := f.clock.Add(20 * time.Minute)
	if err := f.Record(web, Sample{Pod: slow, At: second, Usage: 100, Rank: 2}, f.now(second)); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestBinary(t *testing.T) {
	f := filled(t)
	now := began.Add(84 * time.Hour)
	form := f.AppendContainer([]byte("x"), web)[1:]
	t.Run("continues after a restart as if there were none", func(t *testing.T) {
		g := newFixture(t)
		g.options = f.options
		c, rest, err := g.ReadContainer(append(slices.Clone(form), "rest"...), now)
		if err != nil || c != web || string(rest) != "rest" {
			t.Fatalf("%v, %q, %v", c, rest, err)
		}
		if again := g.AppendContainer(nil, web); !slices.Equal(again, form) {
			t.Error("written again, the bytes differ")
		}
		for id, w := range f.containers[web].windows {
			if got := g.containers[web].windows[id].series.nodeType; got != w.series.nodeType {
				t.Errorf("a window on %s is on %s now", w.series.nodeType, got)
			}
		}
		if !g.newest.Equal(f.newest) {
			t.Errorf("newest sample at %v, want %v", g.newest, f.newest)
		}
		for i := range 100 {
			at := now.Add(time.Duration(i) * time.Hour)
			for _, h := range []*fixture{f, g} {
				h.cpu(slow, at, 200)
				h.memory(fast, at, int64(2e8-1e6*i))
				if i == 50 {
					h.kill(Kill{Pod: fast, At: at, Limit: 500 * mib})
				}
			}
			a, _ := f.View(web, at)
			b, _ := g.View(web, at)
			if a.CPU != b.CPU || a.Memory != b.Memory || a.Peaks != b.Peaks {
				t.Fatalf("known: %+v and %+v", a, b)
			}
			for j := range a.Types {
				x, y := a.Types[j], b.Types[j]
				peakX, knownX := x.Peak(CPU, at)
				peakY, knownY := y.Peak(CPU, at)
				if x.CPU.Percentile(0.9) != y.CPU.Percentile(0.9) || x.Memory.Percentile(0.9) != y.Memory.Percentile(0.9) ||
					x.Pressed.Percentile(0.9) != y.Pressed.Percentile(0.9) || x.Samples != y.Samples || !x.First.Equal(y.First) ||
					!x.Last.Equal(y.Last) || peakX != peakY || knownX != knownY {
					t.Fatalf("at %v, %+v and %+v", at, x, y)
				}
			}
		}
	})
	t.Run("is empty without a history", func(t *testing.T) {
		if got := f.AppendContainer(nil, Container{}); got != nil {
			t.Errorf("%x", got)
		}
	})
	t.Run("is rejected if it is cut, and changes nothing", func(t *testing.T) {
		short := newFixture(t)
		short.cpu(slow, began, 1)
		for _, form := range [][]byte{form, short.AppendContainer(nil, web)} {
			for n := range len(form) {
				g := newFixture(t)
				if _, _, err := g.ReadContainer(form[:n], now); !errors.Is(err, ErrFormat) || len(g.containers) != 0 {
					t.Fatalf("%d of %d bytes: %v", n, len(form), err)
				}
			}
		}
	})
	t.Run("is rejected if its version is unknown", func(t *testing.T) {
		later := slices.Clone(form)
		later[0]++
		if _, _, err := newFixture(t).ReadContainer(later, now); !errors.Is(err, ErrFormat) {
			t.Error(err)
		}
	})
	t.Run("is rejected if node types are not in order", func(t *testing.T) {
		g := newFixture(t)
		g.cpu(slow, began, 1)
		g.cpu(fast, began, 1)
		g.containers[web].types[1].nodeType = "c3" // twice
		if _, _, err := newFixture(t).ReadContainer(g.AppendContainer(nil, web), now); !errors.Is(err, ErrFormat) {
			t.Error(err)
		}
	})
	t.Run("is rejected with a peak that is no amount", func(t *testing.T) {
		for _, peak := range []int64{-1, most + 1} {
			g := newFixture(t)
			g.memory(slow, began, 1)
			w := g.containers[web].windows[idOf(slow.UID)]
			for _, s := range []*span{&w.span, &w.past} {
				before := s.peak
				s.peak = peak
				if _, _, err := newFixture(t).ReadContainer(g.AppendContainer(nil, web), now); !errors.Is(err, ErrFormat) {
					t.Errorf("a peak of %d: %v", peak, err)
				}
				s.peak = before
			}
		}
	})
	t.Run("is rejected with a window that is impossible", func(t *testing.T) {
		g := newFixture(t)
		g.memory(slow, began, 1)
		form := g.AppendContainer(nil, web)
		head := len(form) - len(windowsOf(g))
		for name, windows := range map[string][]byte{
			"of an unknown node type":   append([]byte{1, 1 * flags}, make([]byte, leastWindow)...),
			"with a time of 3":          append(slices.Repeat([]byte{1, 0}, 4), 2*3),
			"without an ID":             append([]byte{1}, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0),
			"of too many sources":       append([]byte{1, hasSources, 1, 2, 3, 4, 5, 0, 0, 0}, 129, 2),
			"with more than there are":  {255, 255, 255, 255, 255, 1},
			"with a number that is cut": {255},
			"twice":                     append([]byte{2, 0, 0}, slices.Repeat([]byte{0}, 100)...),
		} {
			form := append(slices.Clone(form[:head]), windows...)
			if _, _, err := newFixture(t).ReadContainer(form, now); !errors.Is(err, ErrFormat) {
				t.Errorf("a window %s: %v", name, err)
			}
		}
	})
	t.Run("is rejected with an hour that no sample has", func(t *testing.T) {
		for _, wrong := range []hours{{first: -1}, {first: latest + 1}, {last: -1}, {last: latest/3600 + 1}, {last: math.MinInt64}} {
			g := newFixture(t)
			g.cpu(slow, began, 1)
			g.containers[web].hours[Memory] = wrong
			if _, _, err := newFixture(t).ReadContainer(g.AppendContainer(nil, web), now); !errors.Is(err, ErrFormat) {
				t.Errorf("%+v: %v", wrong, err)
			}
		}
	})
	t.Run("may have the shortest window, and any number of samples", func(t *testing.T) {
		g := newFixture(t)
		g.cpu(slow, began, 1)
		g.containers[web].types[0].samples = math.MaxInt
		g.containers[web].hours[Memory] = hours{first: latest, last: latest / 3600}
		*g.containers[web].windows[idOf(slow.UID)] = window{series: g.containers[web].types[0]}
		if got := len(windowsOf(g)); got != 1+leastWindow {
			t.Errorf("a window takes %d bytes", got-1)
		}
		if _, _, err := newFixture(t).ReadContainer(g.AppendContainer(nil, web), now); err != nil {
			t.Error(err)
		}
	})
	t.Run("takes little memory, whatever it says", func(t *testing.T) {
		g := newFixture(t)
		g.cpu(slow, began, 1)
		form := g.AppendContainer(nil, web)
		head := form[:len(form)-len(windowsOf(g))]
		for _, n := range []int{1 << 10, 1 << 20} {
			form := append(binary.AppendUvarint(slices.Clone(head), uint64(n)), make([]byte, n)...)
			footprint.CheckAllocated(t, n/64, func() {
				if _, _, err := newFixture(t).ReadContainer(form, now); !errors.Is(err, ErrFormat) {
					t.Error(err)
				}
			})
		}
	})
	t.Run("takes 24 bytes for a usual window", func(t *testing.T) {
		g := newFixture(t)
		for at := began; at.Before(now); at = at.Add(time.Minute) {
			for _, s := range []Sample{{Usage: 100}, {Resource: Memory, Usage: 300 * mib}} {
				s.Pod, s.At, s.Length = slow, at, time.Minute
				if err := g.Record(web, s, at); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := len(windowsOf(g)); got > 24 {
			t.Errorf("%d bytes", got)
		}
	})
	t.Run("keeps times and amounts to the last digit", func(t *testing.T) {
		for _, pod := range []window{
			{memory: began, span: span{end: began, peak: page}},
			{memory: began.Add(-1), span: span{began.Add(time.Hour + 5), page + 1, most}, past: span{end: began.Add(-36 * time.Hour)}},
			{span: span{end: began.Add(-time.Second - 1)}, past: span{began.Add(time.Hour), most, most - 1}, killed: began},
			{memory: time.Unix(0, math.MinInt64), span: span{end: time.Unix(0, math.MaxInt64)}},
			{cpu: []progress{{period: period{began.Add(-1), began}}}},
			{cpu: make([]progress, 256)},
			{killed: began.Add(1), cpu: []progress{{}, {
				period{began.Add(-100 * time.Hour), began.Add(time.Minute)},
				period{began.Add(-13 * time.Hour), began.Add(time.Second + 1)},
			}}, span: span{end: time.Unix(0, math.MinInt64)}, past: span{end: time.Unix(0, math.MaxInt64)}},
		} {
			g := newFixture(t)
			g.cpu(slow, began, 1)
			pod.series = g.containers[web].types[0]
			*g.containers[web].windows[idOf(slow.UID)] = pod
			read := newFixture(t)
			if _, _, err := read.ReadContainer(g.AppendContainer(nil, web), now); err != nil {
				t.Fatal(err)
			}
			got := *read.containers[web].windows[idOf(slow.UID)]
			pod.series, got.series = nil, nil
			if diff := cmp.Diff(pod, got, cmp.AllowUnexported(window{}, span{}, progress{}, period{}), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("of a clock that was ahead does not expire others", func(t *testing.T) {
		g := newFixture(t)
		if _, _, err := g.ReadContainer(form, began); err != nil || !g.newest.IsZero() {
			t.Errorf("newest %v, %v", g.newest, err)
		}
	})
}

func TestNumbers(t *testing.T) {
	t.Run("a time counts from the nearest day", func(t *testing.T) {
		for at, want := range map[int64][2]int64{
			1: {1, 0}, day / 2: {day / 2, 0}, day/2 + 1: {1 - day/2, 1}, day - 1: {-1, 1}, 3*day + 5: {5, 3},
			-day / 2: {-day / 2, 0}, -day/2 - 1: {day/2 - 1, -1}, 1 - day: {1, -1},
		} {
			var w writer
			w.days(time.Unix(0, at))
			r := reader{rest: w.bytes}
			rest, _ := r.duration()
			if got := [2]int64{rest, r.number()}; got != want {
				t.Errorf("%d is %v, want %v", at, got, want)
			}
		}
	})
	for name, test := range map[string]struct {
		read   func(*reader)
		first  uint64
		second int64
		want   error
	}{
		"nanoseconds":                    {func(r *reader) { r.duration() }, 4, int64(time.Second) - 1, nil}, // A varint of 2 is 4.
		"nanoseconds of a second":        {func(r *reader) { r.duration() }, 4, int64(time.Second), ErrFormat},
		"nanoseconds of a second before": {func(r *reader) { r.duration() }, 4, -int64(time.Second), ErrFormat},
		"bytes":                          {func(r *reader) { r.memory() }, 1, page - 1, nil},
		"bytes of a page":                {func(r *reader) { r.memory() }, 1, page, ErrFormat},
		"pages beyond 64 bits":           {func(r *reader) { r.memory() }, 2 << 52, 0, ErrFormat},
	} {
		t.Run("are read: "+name, func(t *testing.T) {
			r := reader{rest: binary.AppendVarint(binary.AppendUvarint(nil, test.first), test.second)}
			if test.read(&r); !errors.Is(r.err, test.want) {
				t.Errorf("%v, want %v", r.err, test.want)
			}
		})
	}
}

// windowsOf returns the form of the windows of web.
func windowsOf(f *fixture) []byte {
	var w writer
	w.windows(f.containers[web])
	return w.bytes
}

// FuzzReadContainer checks that any bytes are rejected or form a history that can be used.
func FuzzReadContainer(f *testing.F) {
	h := New(func(Container) Options { return DefaultOptions() })
	_ = h.Record(web, Sample{Pod: slow, At: began, Usage: 100}, began)
	_ = h.Record(web, Sample{Pod: slow, Resource: Memory, At: began, Usage: 1e8}, began)
	f.Add(h.AppendContainer(nil, web))
	f.Fuzz(func(t *testing.T, form []byte) {
		g := New(func(Container) Options { return DefaultOptions() })
		var c Container
		var err error
		footprint.CheckAllocated(t, len(form), func() { c, _, err = g.ReadContainer(form, began) })
		if err != nil {
			if len(g.containers) != 0 {
				t.Error("rejected bytes have changed the history")
			}
			return
		}
		now := began.Add(time.Hour)
		_ = g.Record(c, Sample{Pod: slow, At: now, Usage: 100}, now)
		_ = g.Record(c, Sample{Pod: slow, Resource: Memory, At: now, Usage: 1e8}, now)
		v, _ := g.View(c, now)
		for _, s := range v.Types {
			if p := s.CPU.Percentile(0.9); p < 0 || p > 1100 {
				t.Errorf("percentile %v", p)
			}
		}
		g.Expire(now)
	})
}

func TestCheckpoint(t *testing.T) {
	f := newFixture(t)
	for i, pod := range []Pod{slow, fast, {UID: "c", NodeType: "n2d"}} {
		f.cpu(pod, began.Add(time.Duration(i)*time.Second), 100)
		f.memory(pod, began.Add(time.Duration(i)*time.Second), int64(i+1)*100e6)
	}
	now := began.Add(25 * time.Hour)
	f.memory(slow, now, 500e6)
	t.Run("has the samples of one node type, without open windows", func(t *testing.T) {
		c, ok := f.Checkpoint(web, "n2d", now)
		if !ok || c.Samples != 2 || !c.First.Equal(began) || !c.Last.Equal(began.Add(2*time.Second)) || !c.Updated.Equal(now) {
			t.Fatalf("%+v, %v", c, ok)
		}
		// The window of the third pod has ended, too.
		if len(c.Memory.Weights) != 2 || c.CPU.Weights[8] != 10000 {
			t.Errorf("weights %v and %v", c.Memory.Weights, c.CPU.Weights)
		}
		if c, _ := f.Checkpoint(web, "n2d", began.Add(time.Hour)); len(c.Memory.Weights) != 1 {
			t.Errorf("with open windows: %v", c.Memory.Weights)
		}
	})
	t.Run("does not exist without samples", func(t *testing.T) {
		if _, ok := f.Checkpoint(web, "n4", now); ok {
			t.Error("of an unknown node type")
		}
		if _, ok := f.Checkpoint(Container{}, "n2d", now); ok {
			t.Error("of an unknown container")
		}
	})
	t.Run("has no time without samples of CPU", func(t *testing.T) {
		g := newFixture(t)
		g.memory(slow, began, 1)
		if c, ok := g.Checkpoint(web, "n2d", began); !ok || c.First != nil || c.Last != nil {
			t.Errorf("%+v, %v", c, ok)
		}
	})
}

func TestTake(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	other := web
	other.Name = "other"
	from.cpu(slow, began.Add(time.Hour), 100)
	to.cpu(slow, began, 9000)
	if err := to.Record(other, Sample{Pod: slow, At: began, Usage: 100}, began); err != nil {
		t.Fatal(err)
	}
	want := from.AppendContainer(nil, web)
	to.Take(from.History)
	if got := to.AppendContainer(nil, web); !slices.Equal(got, want) {
		t.Error("the history of the container was not replaced")
	}
	if all := to.Containers(); len(all) != 2 || len(from.Containers()) != 0 {
		t.Errorf("%v, and %v remain", all, from.Containers())
	}
	if !to.newest.Equal(began.Add(time.Hour)) {
		t.Errorf("the newest sample is of %v", to.newest)
	}
}
