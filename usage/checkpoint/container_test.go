package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/test/footprint"
	"github.com/workload-resizer/workload-resizer/usage"
	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/histogram"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

var (
	web  = history.Container{Namespace: "shop", Kind: "Deployment", Workload: "web", Name: "main"}
	slow = history.Pod{UID: "a", NodeType: "n2d"}
	fast = history.Pod{UID: "b", NodeType: "c3"}
)

const mib = 1 << 20

// filled returns a history with everything that a history can have.
func filled(t testing.TB, options func(history.Container) history.Options) *history.History {
	t.Helper()
	h := history.New(options)
	record := func(s history.Sample, now time.Time) {
		if err := h.Record(web, s, now); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 500 {
		at := began.Add(time.Duration(i) * 10 * time.Minute)
		for j, pod := range []history.Pod{slow, fast} {
			record(history.Sample{Pod: pod, At: at, Usage: int64(100 + 7*i%300 + j), Throttled: i%9 == 0, Pressure: float64(j*(i%3)) / 10}, at)
			memory := history.Sample{Pod: pod, Resource: history.Memory, At: at, Usage: int64(1e8 + 1e6*(i*13%100))}
			if i > 0 && i%3 == 0 {
				memory.Length = 10 * time.Minute
			}
			record(memory, at)
		}
	}
	now := began.Add(84 * time.Hour)
	if err := h.RecordKill(web, history.Kill{Pod: slow, At: began.Add(70 * time.Hour), Limit: 300 * mib}, now); err != nil {
		t.Fatal(err)
	}
	record(history.Sample{Pod: slow, At: now, Usage: 100, Rank: 2}, now)
	return h
}

// hourly are options with everything.
func hourly(history.Container) history.Options {
	options := history.DefaultOptions()
	options.Hours, options.SteadyCPU, options.SteadyMemory = true, 10*time.Minute, 30*time.Minute
	return options
}

// form returns the form of a container.
func form(t testing.TB, state *history.State, ratios ...string) []byte {
	t.Helper()
	b, err := (&container{web, ratios, state}).append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// again returns the history of a container that was stored and read.
func again(t testing.TB, form []byte, options func(history.Container) history.Options, now time.Time) *history.History {
	t.Helper()
	c, err := unpackContainer(form)
	h := history.New(options)
	if err == nil {
		err = h.Restore(c.Container, c.State, now)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// least returns the state of a container on one node type, with windows.
func least(windows ...*history.Window) *history.State {
	shapes := history.ShapesOf(24*time.Hour, 24*time.Hour)
	s := &history.State{Shapes: shapes, Windows: map[history.PodID]*history.Window{}}
	s.Types = []*history.Series{{
		NodeType: "n2d", Heard: began, CPU: histogram.New(shapes.CPU), Memory: histogram.New(shapes.Memory), Throttled: histogram.New(shapes.CPU),
	}}
	for i, w := range windows {
		w.NodeType = "n2d"
		s.Windows[history.PodID(i)] = w
	}
	return s
}

func TestContainer(t *testing.T) {
	f := filled(t, hourly)
	now := began.Add(84 * time.Hour)
	stored := form(t, f.State(web), "", "all")
	t.Run("has its key and its sets of ratios", func(t *testing.T) {
		c, err := unpackContainer(stored)
		if err != nil || c.Container != web || !slices.Equal(c.ratios, []string{"", "all"}) {
			t.Errorf("%v, %q, %v", c.Container, c.ratios, err)
		}
	})
	t.Run("continues after a restart as if there were none", func(t *testing.T) {
		f, g := filled(t, hourly), again(t, stored, hourly, now)
		if !bytes.Equal(form(t, g.State(web), "", "all"), stored) {
			t.Error("written again, the bytes differ")
		}
		for i := range 100 {
			at := now.Add(time.Duration(i+1) * time.Hour)
			for _, h := range []*history.History{f, g} {
				for _, s := range []history.Sample{{Pod: slow, At: at, Usage: 200}, {Pod: fast, Resource: history.Memory, At: at, Usage: int64(2e8 - 1e6*i)}} {
					if err := h.Record(web, s, at); err != nil {
						t.Fatal(err)
					}
				}
				if i == 50 {
					if err := h.RecordKill(web, history.Kill{Pod: fast, At: at, Limit: 500 * mib}, at); err != nil {
						t.Fatal(err)
					}
				}
			}
			a, _ := f.View(web, at)
			b, _ := g.View(web, at)
			for j := range a.Types {
				for n := range 2 { // of one type, and of all before it
					cpu, memory, peaks := a.Known(a.Types[j*n : j+1])
					if c, m, p := b.Known(b.Types[j*n : j+1]); cpu != c || memory != m || peaks != p {
						t.Fatalf("known: %+v and %+v", a, b)
					}
				}
				x, y := a.Types[j], b.Types[j]
				peakX, knownX := x.Peak(history.CPU, at)
				peakY, knownY := y.Peak(history.CPU, at)
				if x.CPU.Percentile(0.9) != y.CPU.Percentile(0.9) || x.Memory.Percentile(0.9) != y.Memory.Percentile(0.9) ||
					x.Pressed.Percentile(0.9) != y.Pressed.Percentile(0.9) || x.Samples != y.Samples || !x.First.Equal(y.First) ||
					!x.Last.Equal(y.Last) || peakX != peakY || knownX != knownY {
					t.Fatalf("at %v, %+v and %+v", at, x, y)
				}
			}
		}
	})
	t.Run("keeps times and amounts to the last digit", func(t *testing.T) {
		for _, w := range []history.Window{
			{Memory: began, Span: history.Span{End: began, Peak: page}},
			{Memory: began.Add(-1), Span: history.Span{End: began.Add(time.Hour + 5), Peak: page + 1, KillPeak: 1e14}, Past: history.Span{End: began.Add(-36 * time.Hour)}},
			{Span: history.Span{End: began.Add(-time.Second - 1)}, Past: history.Span{End: began.Add(time.Hour), Peak: 1e14, KillPeak: 1e14 - 1}, Killed: began},
			{Memory: time.Unix(0, 1).UTC(), Span: history.Span{End: time.Unix(2, 0).UTC()}},
			{Memory: began, CPU: []history.Progress{{Period: history.Period{From: began.Add(-1), Until: began}}}},
			{CPU: make([]history.Progress, 256)},
			{Killed: began.Add(1), CPU: []history.Progress{{}, {
				Period: history.Period{From: began.Add(-100 * time.Hour), Until: began.Add(time.Minute)},
				Hole:   history.Period{From: began.Add(-13 * time.Hour), Until: began.Add(time.Second + 1)},
			}}},
		} {
			c, err := unpackContainer(form(t, least(&w)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&w, c.Windows[0], cmpopts.IgnoreUnexported(history.Window{}), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("keeps times that are centuries away to the second", func(t *testing.T) {
		w := history.Window{Memory: began.AddDate(-200, 0, 0).Add(1)}
		c, err := unpackContainer(form(t, least(&w)))
		if err != nil || w.Memory.Sub(c.Windows[0].Memory).Abs() >= time.Second {
			t.Errorf("%v, %v", c.Windows[0].Memory, err)
		}
	})
	t.Run("keeps the version of its pods", func(t *testing.T) {
		for _, v := range []history.Version{{}, {Hash: 1}, {Hash: 1<<64 - 1, Since: began}} {
			s := least()
			s.Version = v
			if c, err := unpackContainer(form(t, s)); err != nil || c.Version != v {
				t.Errorf("%+v, want %+v, %v", c.Version, v, err)
			}
		}
	})
	t.Run("keeps sizes that were too small", func(t *testing.T) {
		s, f := least(), &history.Floors{}
		for i, d := range daysOf(f) {
			d.Note(began, int64(100*i+1))
			d.Note(began.AddDate(0, 0, -7), int64(200*i+1))
		}
		s.Types[0].Floors = f
		stored := form(t, s)
		if c, err := unpackContainer(stored); err != nil || *c.Types[0].Floors != *f {
			t.Errorf("%+v, want %+v, %v", c.Types[0].Floors, f, err)
		}
		var m storedv2.Container
		for name, change := range map[string]func(*storedv2.Floors){
			"no days":         func(f *storedv2.Floors) { f.Days = nil },
			"a negative day":  func(f *storedv2.Floors) { f.Days[0] = -1 },
			"too few amounts": func(f *storedv2.Floors) { f.Amounts = f.Amounts[1:] },
		} {
			if err := proto.Unmarshal(stored, &m); err != nil {
				t.Fatal(err)
			}
			change(m.NodeTypes[0].Floors)
			changed, err := proto.Marshal(&m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := unpackContainer(changed); !errors.Is(err, errIncomplete) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("keeps the highest usage of memory", func(t *testing.T) {
		s := least()
		s.Types[0].Peaks.Note(began, 100*mib)
		s.Types[0].Peaks.Note(began.AddDate(0, 0, -7), 300*mib)
		stored := form(t, s)
		if c, err := unpackContainer(stored); err != nil || c.Types[0].Peaks != s.Types[0].Peaks {
			t.Errorf("%+v, want %+v, %v", c.Types[0].Peaks, s.Types[0].Peaks, err)
		}
		var m storedv2.Container
		for name, change := range map[string]func(*storedv2.Peaks){
			"a negative day": func(p *storedv2.Peaks) { p.Day = -1 },
			"too few peaks":  func(p *storedv2.Peaks) { p.Peaks = p.Peaks[1:] },
		} {
			if err := proto.Unmarshal(stored, &m); err != nil {
				t.Fatal(err)
			}
			change(m.NodeTypes[0].Peaks)
			changed, err := proto.Marshal(&m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := unpackContainer(changed); !errors.Is(err, errIncomplete) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("keeps runs", keepsRuns)
	t.Run("keeps slots", keepsSlots)
	t.Run("keeps all IDs of pods apart", func(t *testing.T) {
		s := least()
		for _, id := range []history.PodID{0, 1, 1<<40 - 1, 1 << 32} {
			s.Windows[id] = &history.Window{NodeType: "n2d"}
		}
		c, err := unpackContainer(form(t, s))
		if got, want := slices.Sorted(maps.Keys(c.Windows)), slices.Sorted(maps.Keys(s.Windows)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, want %v, %v", got, want, err)
		}
	})
	t.Run("keeps what a later version has stored of it, and of its node types", func(t *testing.T) {
		var m storedv2.Container
		if err := proto.Unmarshal(stored, &m); err != nil {
			t.Fatal(err)
		}
		m.ProtoReflect().SetUnknown(later)
		m.NodeTypes[1].ProtoReflect().SetUnknown(later)
		changed, err := proto.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		f := again(t, changed, hourly, now)
		for _, pod := range []history.Pod{slow, {UID: "c", NodeType: "another"}} { // They change both what has unknown fields and what has not.
			if err := f.Record(web, history.Sample{Pod: pod, At: now.Add(time.Hour), Usage: 100}, now.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		g := history.New(hourly)
		g.Take(f)
		var kept storedv2.Container
		if err := proto.Unmarshal(form(t, g.State(web)), &kept); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(kept.ProtoReflect().GetUnknown(), later) {
			t.Errorf("of the container, %q remains", kept.ProtoReflect().GetUnknown())
		}
		for i, of := range kept.NodeTypes {
			if got := of.ProtoReflect().GetUnknown(); len(got) > 0 != (of.Name == m.NodeTypes[1].Name) || len(got) > 0 && !bytes.Equal(got, later) {
				t.Errorf("of node type %d, %q remains", i, got)
			}
		}
	})
	change := func(do func(m *storedv2.Container)) []byte {
		var m storedv2.Container
		if err := proto.Unmarshal(stored, &m); err != nil {
			t.Fatal(err)
		}
		do(&m)
		b, err := proto.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, do := range map[string]func(m *storedv2.Container){
		"no half-life":                   func(m *storedv2.Container) { m.CpuHalfLifeNanos = 0 },
		"slots that are impossible":      func(m *storedv2.Container) { m.NodeTypes[0].Steady.Memory.Total = 0 },
		"a histogram that is impossible": func(m *storedv2.Container) { m.NodeTypes[0].Pressed.Total = 0 },
		"a week that is not complete":    func(m *storedv2.Container) { m.NodeTypes[0].Week.MemoryBytes = m.NodeTypes[0].Week.MemoryBytes[1:] },
		"node types twice":               func(m *storedv2.Container) { m.NodeTypes[1] = m.NodeTypes[0] },
		"a pod on no node type":          func(m *storedv2.Container) { m.Pods.NodeTypes[1] = 2 },
		"a time too few":                 func(m *storedv2.Container) { m.Pods.EndTime = m.Pods.EndTime[1:] },
		"a source too many":              func(m *storedv2.Container) { m.Pods.Sources[1]++ },
		"too many sources":               func(m *storedv2.Container) { m.Pods.Sources[0] = math.MaxUint32 },
		"the time of a source too few":   func(m *storedv2.Container) { m.Pods.HoleFromTime = nil },
		"a peak that is no amount":       func(m *storedv2.Container) { m.Pods.KillPeakBytes[0] = math.MaxUint64 },
	} {
		t.Run("is rejected with "+name, func(t *testing.T) {
			c, err := unpackContainer(change(do))
			if err == nil {
				err = history.New(hourly).Restore(web, c.State, now)
			}
			if err == nil {
				t.Error("no error")
			}
		})
	}
	t.Run("is rejected if it is no message", func(t *testing.T) {
		for _, wrong := range [][]byte{stored[:len(stored)-1], {255}, {10, 1, 255}} {
			if _, err := unpackContainer(wrong); err == nil {
				t.Errorf("%d bytes are accepted", len(wrong))
			}
		}
	})
	t.Run("takes little memory, whatever it says", func(t *testing.T) {
		const n, typesField = 1 << 18, 12
		field := func(number protowire.Number, b []byte) []byte {
			return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), b)
		}
		zeros := make([]byte, n)
		pods := field(1, slices.Repeat([]byte{1, 2, 3, 4, 5}, n/5))
		for number := protowire.Number(2); number <= 15; number++ {
			pods = append(pods, field(number, zeros)...)
		}
		for name, form := range map[string][]byte{
			"node types":        bytes.Repeat(field(typesField, nil), n),
			"ratios":            bytes.Repeat(field(5, nil), n),
			"weeks":             bytes.Repeat(field(typesField, field(10, nil)), n),
			"buckets":           field(typesField, field(6, append(field(4, bytes.Repeat([]byte{1}, n)), field(5, bytes.Repeat([]byte{1}, n))...))),
			"pods":              field(13, field(1, zeros)),
			"complete pods":     field(13, pods),
			"unpacked numbers":  field(13, bytes.Repeat([]byte{3 << 3, 1}, n)),
			"hours":             field(9, bytes.Repeat(field(3, make([]byte, 8)), n)),
			"unknown fields":    bytes.Repeat(later, n/len(later)),
			"long node types":   append(bytes.Repeat(field(typesField, nil), n), field(4, make([]byte, n*leastType))...),
			"containers of one": zeros,
			"empty slots":       append(bytes.Repeat(field(typesField, field(21, nil)), n), field(4, make([]byte, n*leastType))...),
		} {
			t.Run(name, func(t *testing.T) {
				footprint.CheckAllocated(t, len(form), func() { _, _ = unpackContainer(form) })
			})
		}
	})
	t.Run("takes little for each of many usual pods", func(t *testing.T) {
		h := history.New(hourly)
		const pods = 100
		for minute := range 3 * 24 * 60 {
			at := began.Add(time.Duration(minute) * time.Minute)
			for pod := minute % 10; pod < pods; pod += 10 {
				for _, s := range []history.Sample{{Usage: 100}, {Resource: history.Memory, Usage: 300 * mib}} {
					s.Pod, s.At, s.Length = history.Pod{UID: fmt.Sprint(pod), NodeType: "n2d"}, at.Add(time.Duration(pod)*time.Second), time.Minute
					if err := h.Record(web, s, s.At); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		raw, err := proto.Marshal(packPods(h.State(web)))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(deflated(raw)); got > 16*pods || len(raw) > 40*pods {
			t.Errorf("%d bytes, deflated %d", len(raw), got)
		}
	})
}

func TestFields(t *testing.T) {
	fields := (&storedv2.Content{}).ProtoReflect().Descriptor().Fields()
	if fields.ByName("sources").Number() != sourcesField || fields.ByName("containers").Number() != containersField {
		t.Error("fields have other numbers")
	}
}

// randomHistory calls a function with each state of a history to which anything may happen.
func randomHistory(seed uint64, do func(h *history.History, options func(history.Container) history.Options, now time.Time) *history.History) {
	random := rand.New(rand.NewPCG(seed, 2))
	own := history.DefaultOptions()
	options := func(history.Container) history.Options { return own }
	h, now := history.New(options), began
	pods := []history.Pod{slow, fast, {UID: "c", NodeType: "n2d"}, {UID: "d", NodeType: "n4"}}
	for range 400 {
		now = now.Add(time.Duration(random.ExpFloat64() * float64(20*time.Minute)))
		pod := &pods[random.IntN(len(pods))]
		switch random.IntN(40) {
		case 0:
			now = now.Add(time.Duration((random.Float64()*2 - 1) * float64(20*24*time.Hour)))
		case 1:
			own.CPUHalfLife = time.Duration(1+random.IntN(3000)) * time.Minute
			own.MemoryHalfLife = time.Duration(1+random.IntN(3000)) * time.Minute
		case 2:
			own.Interval, own.Intervals = time.Duration(1+random.IntN(3000))*time.Minute, 1+random.IntN(10)
		case 3:
			pod.NodeType = []string{"c3", "n2d", "n4"}[random.IntN(3)]
		case 4:
			h.Forget(web, pod.UID)
		case 5:
			h.Expire(now)
		case 6:
			own.Compat, own.Hours = random.IntN(3) == 0, random.IntN(3) == 0
			own.SteadyCPU, own.SteadyMemory = time.Duration(random.IntN(3))*time.Minute, time.Duration(random.IntN(3))*time.Hour
		}
		at := now.Add(-time.Duration(random.ExpFloat64()*float64(time.Hour)) + time.Duration(random.IntN(3))*time.Minute)
		if random.IntN(20) == 0 {
			_ = h.RecordKill(web, history.Kill{Pod: *pod, At: at, Limit: random.Int64N(2) * random.Int64N(1e14), Request: random.Int64N(1e9), Usage: random.Int64N(1e9)}, now)
			continue
		}
		s := history.Sample{Pod: *pod, Resource: history.Resource(random.IntN(2)), At: at, Length: time.Duration(random.IntN(600)) * time.Second, Usage: random.Int64N(1e9), Rank: uint8(random.IntN(3))}
		s.Throttled, s.Pressure = random.IntN(4) == 0, float64(random.IntN(3))/3
		if random.IntN(9) == 0 {
			s.Usage = random.Int64N(2) * random.Int64N(1e14)
		}
		_ = h.Record(web, s, now)
		if h.State(web) == nil {
			continue
		}
		if stored := do(h, options, now); random.IntN(30) == 0 {
			h = stored
		}
	}
}

// TestRandomHistories checks that whatever happens, a history can be stored and read again.
func TestRandomHistories(t *testing.T) {
	for seed := range uint64(5) {
		randomHistory(seed, func(h *history.History, options func(history.Container) history.Options, now time.Time) *history.History {
			b := form(t, h.State(web))
			g := again(t, b, options, now)
			if !bytes.Equal(form(t, g.State(web)), b) {
				t.Fatalf("seed %d: written again, the bytes differ", seed)
			}
			return g
		})
	}
}

// fuzzContainer adds what was read of a container to a store, and checks that it can be used, and written and read
// again.
func fuzzContainer(t *testing.T, c container) {
	t.Helper()
	state := usage.NewState()
	if err := state.Add(c.Container, c.State, c.ratios, began); err != nil {
		return
	}
	s, source := newStore(), source{name: "source", samples: sampled(1, began.Add(-time.Minute))}
	s.Restore(state)
	if err := s.Collect(t.Context(), &source, began.Add(-time.Hour), began); err != nil {
		t.Error(err)
	}
	table := s.Publish(uniform, began)
	for _, c := range s.Containers() {
		if r, known := table.Demand(usage.Key{Container: c, Ratios: "all"}); known && (r.Target.CPU < 0 || r.Target.Memory < 0 || r.Target.CPU > 2e6) {
			t.Errorf("%+v", r.Target)
		}
		known, err := unpackContainer(formOf(t, s, c))
		if err == nil {
			err = usage.NewState().Add(c, known.State, known.ratios, began)
		}
		if err != nil {
			t.Errorf("it cannot be read again: %v", err)
		}
	}
}

// FuzzContainer checks that any bytes are rejected or form a container that can be used, and take little memory.
func FuzzContainer(f *testing.F) {
	f.Add(form(f, filled(f, hourly).State(web), "all"))
	f.Add(form(f, least()))
	f.Fuzz(func(t *testing.T, form []byte) {
		var c container
		var err error
		footprint.CheckAllocated(t, len(form), func() { c, err = unpackContainer(form) })
		if err == nil {
			fuzzContainer(t, c)
		}
	})
}
