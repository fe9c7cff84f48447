package recommend

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
)

// shared returns a history of minutes in which a container uses what the function says, with slots if they are kept.
func shared(t *testing.T, keep bool, length time.Duration, use func(minute int) Amounts, nodeTypes ...string) *history.History {
	t.Helper()
	options := history.DefaultOptions()
	if keep {
		KeepSlots(&options)
	}
	h := history.New(func(history.Container) history.Options { return options })
	for minute := range int(length / time.Minute) {
		for _, nodeType := range nodeTypes {
			record(t, h, nodeType, began.Add(time.Duration(minute+1)*time.Minute), use(minute))
		}
	}
	return h
}

// parts returns the demand in two numbers, after a time.
func parts(t *testing.T, h *history.History, s Shared, o Options, speeds Speeds, after time.Duration) (Parts, Recommendation) {
	t.Helper()
	now := began.Add(after)
	d := demand(h, speeds, now)
	r, ok := For(d, 1, &o, now)
	if !ok {
		t.Fatal("no recommendation")
	}
	return s.Parts(&d, &o, &r, 1, now), r
}

func TestParts(t *testing.T) {
	const gib = 1 << 30
	// Of each ten minutes, two have a burst, and of each day an hour has a peak.
	bursts := func(minute int) Amounts {
		use := Amounts{CPU: 0, Memory: gib}
		if minute%5 == 0 {
			use.CPU = 1000
		}
		if minute%1440 < 60 {
			use = Amounts{CPU: 3000, Memory: 3 * gib}
		}
		return use
	}
	both := DefaultShared()
	both.WithMemory = true
	near := func(t *testing.T, what string, got, want int64) {
		t.Helper()
		if got < want || float64(got) > 1.053*float64(want)+11 { // The width of a bucket.
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	t.Run("are what slots show", func(t *testing.T) {
		p, r := parts(t, shared(t, true, 3*day, bursts, "n2d"), both, DefaultOptions(), Uniform, 3*day)
		near(t, "steady CPU", p.Steady.CPU, 200)
		near(t, "peak CPU", p.Peak.CPU, 3000)
		near(t, "steady memory", p.Steady.Memory, gib)
		near(t, "peak memory", p.Peak.Memory, 3*gib)
		if p.CPUBound || p.MemoryBound || p.Peak.Memory != r.Peak {
			t.Errorf("%+v, the highest usage is %d", p, r.Peak)
		}
	})
	t.Run("are bounds of that without slots, or while they are new", func(t *testing.T) {
		exact, _ := parts(t, shared(t, true, 3*day, bursts, "n2d"), both, DefaultOptions(), Uniform, 3*day)
		for keep, length := range map[bool]time.Duration{false: 3 * day, true: 23 * time.Hour} {
			p, _ := parts(t, shared(t, keep, length, bursts, "n2d"), both, DefaultOptions(), Uniform, length)
			if !p.CPUBound || !p.MemoryBound || p.Steady.CPU < exact.Steady.CPU || p.Steady.Memory < exact.Steady.Memory || p.Steady.CPU > p.Peak.CPU || p.Steady.Memory > p.Peak.Memory {
				t.Errorf("%v: %+v, exact %+v", length, p, exact)
			}
		}
	})
	t.Run("do not share memory by default", func(t *testing.T) {
		p, r := parts(t, shared(t, true, 3*day, bursts, "n2d"), DefaultShared(), DefaultOptions(), Uniform, 3*day)
		if p.Steady.Memory != r.Target.Memory || p.Peak.Memory != r.Target.Memory || p.MemoryBound {
			t.Errorf("%+v, target %+v", p, r.Target)
		}
	})
	t.Run("are never 0, nor below floors and bounds", func(t *testing.T) {
		idle := func(int) Amounts { return Amounts{0, 1} }
		h := shared(t, true, 2*day, idle, "n2d")
		o := DefaultOptions()
		if p, _ := parts(t, h, both, o, Uniform, 2*day); p.Steady != (Amounts{25, 64 << 20}) || p.Peak != p.Steady {
			t.Errorf("floors: %+v", p)
		}
		o.Min = Amounts{100, 128 << 20}
		if p, _ := parts(t, h, both, o, Uniform, 2*day); p.Steady != o.Min || p.Peak != p.Steady {
			t.Errorf("bounds: %+v", p)
		}
		o = DefaultOptions()
		o.Floor = Amounts{}
		if p, _ := parts(t, h, both, o, Uniform, 2*day); p.Steady.CPU < 1 || p.Steady.Memory < 1 {
			t.Errorf("without floors: %+v", p)
		}
		o.Max = Amounts{500, gib}
		if p, _ := parts(t, shared(t, true, 2*day, bursts, "n2d"), both, o, Uniform, 2*day); p.Peak != o.Max || p.Steady.CPU > 500 {
			t.Errorf("maximum: %+v", p)
		}
	})
	t.Run("are not below what was seen to be too small", func(t *testing.T) {
		h := shared(t, true, 3*day, bursts, "n2d")
		pod := history.Pod{UID: "n2d", NodeType: "n2d"}
		kill := history.Kill{Pod: pod, At: began.Add(3 * day), Request: 2 * gib, Limit: 4 * gib}
		if err := h.RecordKill(web, kill, kill.At); err != nil {
			t.Fatal(err)
		}
		if p, _ := parts(t, h, both, DefaultOptions(), Uniform, 3*day); p.Peak.Memory < 4*gib || p.Steady.Memory > 2*gib {
			t.Errorf("after a kill: %+v", p)
		}
		if err := h.RecordHarm(web, history.Harm{Pod: pod, At: kill.At, Resource: history.CPU, Request: 700}, kill.At); err != nil {
			t.Fatal(err)
		}
		if p, _ := parts(t, h, both, DefaultOptions(), Uniform, 3*day); p.Steady.CPU < 700 || p.Steady.CPU > 702 {
			t.Errorf("after a revert: %+v", p)
		}
	})
	t.Run("count the time that a container waited for CPU as a peak", func(t *testing.T) {
		h := shared(t, true, 2*day, func(int) Amounts { return Amounts{1000, gib} }, "n2d")
		for i := range 1000 {
			at := began.Add(2*day + time.Duration(i)*time.Minute)
			s := history.Sample{Pod: history.Pod{UID: "n2d", NodeType: "n2d"}, At: at.Add(time.Minute), Usage: 1000, Pressure: 0.5}
			if err := h.Record(web, s, s.At); err != nil {
				t.Fatal(err)
			}
		}
		p, _ := parts(t, h, both, DefaultOptions(), Uniform, 3*day)
		near(t, "steady", p.Steady.CPU, 1000)
		near(t, "peak", p.Peak.CPU, 1500)
	})
	t.Run("unite all node types on the baseline", func(t *testing.T) {
		speeds := func(nodeType string) (Speed, bool) {
			return Speed{CPU: map[string]float64{"a": 1, "b": 2}[nodeType], Memory: 1}, true
		}
		p, _ := parts(t, shared(t, true, 2*day, func(int) Amounts { return Amounts{1000, gib} }, "a", "b"), both, DefaultOptions(), speeds, 2*day)
		near(t, "steady", p.Steady.CPU, 2000)
		near(t, "peak", p.Peak.CPU, 2000)
		if s := DefaultShared(); s.WithMemory || s.CPU != 0.75 || s.Peak != 0.99 {
			t.Errorf("%+v", s)
		}
	})
}
