package history

import (
	"testing"
	"time"
)

func TestSteady(t *testing.T) {
	slotted := func(t *testing.T) *fixture {
		f := newFixture(t)
		f.options.SteadyCPU, f.options.SteadyMemory = 10*time.Minute, 30*time.Minute
		return f
	}
	// of returns what is known on the node type of a pod.
	of := func(f *fixture, p Pod) *Steady {
		f.Helper()
		v, _ := f.View(web, f.clock)
		for _, view := range v.Types {
			if view.NodeType == p.NodeType && view.Steady != nil {
				return view.Steady
			}
		}
		f.Fatal("no slots are known")
		return nil
	}
	near := func(t *testing.T, what string, got, want float64) {
		t.Helper()
		first := 0.01 // The width of the first bucket; the others are wider by a twentieth each.
		if want > mib {
			first = 1e7
		}
		if got < want-1e-9 || got > 1.05*want+first {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	t.Run("is not kept unless the options say so", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began.Add(time.Minute), 500)
		f.memory(slow, began.Add(time.Minute), 100*mib)
		if v, _ := f.View(web, began); v.Types[0].Steady != nil || f.containers[web].Windows[IDOf(slow.UID)].slots != nil {
			t.Error("slots are kept")
		}
	})
	t.Run("shows the mean of bursts that most samples do not show", func(t *testing.T) {
		f := slotted(t)
		for i := range 24 * 60 {
			usage := int64(0)
			if i%5 == 0 {
				usage = 1000
			}
			f.cpu(slow, began.Add(time.Duration(i+1)*time.Minute), usage)
		}
		v, _ := f.View(web, f.clock)
		if got := v.Types[0].CPU.Percentile(0.75); got > 0.011 {
			t.Errorf("percentile of samples %v", got)
		}
		for _, p := range []float64{0.01, 0.75, 1} {
			near(t, "mean", of(f, slow).CPU.Percentile(p), 0.2)
		}
	})
	t.Run("has the peak of each slot of memory once", func(t *testing.T) {
		f := slotted(t)
		for i := range 8 {
			for minute := range 30 {
				usage := int64(100 * mib)
				if minute == 7 && i%4 == 0 {
					usage = 900 * mib
				}
				f.memory(slow, began.Add(time.Duration(30*i+minute+1)*time.Minute), usage)
			}
		}
		f.memory(slow, began.Add(241*time.Minute), 100*mib)
		all := of(f, slow)
		near(t, "most slots", all.Memory.Percentile(0.74), 100*mib)
		near(t, "a quarter of the slots", all.Memory.Percentile(0.76), 900*mib)
	})
	t.Run("counts a slot when a later sample comes, and notes the first one", func(t *testing.T) {
		f := slotted(t)
		f.cpu(slow, began.Add(time.Minute), 1000)
		f.memory(slow, began.Add(time.Minute), 100*mib)
		if all := of(f, slow); !all.CPU.Empty() || !all.Memory.Empty() || !all.CPUSince.IsZero() || !all.MemorySince.IsZero() {
			t.Errorf("%+v", all)
		}
		// A sample at the end of a slot belongs to it.
		f.cpu(slow, began.Add(10*time.Minute), 3000)
		if all := of(f, slow); !all.CPU.Empty() {
			t.Error("a slot that is not over counts")
		}
		f.cpu(slow, began.Add(3*time.Hour), 0)
		f.memory(slow, began.Add(3*time.Hour), 100*mib)
		all := of(f, slow)
		near(t, "mean", all.CPU.Percentile(1), 2)
		if !all.CPUSince.Equal(began.Add(10*time.Minute)) || !all.MemorySince.Equal(began.Add(30*time.Minute)) {
			t.Errorf("since %v and %v", all.CPUSince, all.MemorySince)
		}
	})
	t.Run("weights samples by their lengths, and puts each where its middle is", func(t *testing.T) {
		f := slotted(t)
		add := func(end, length time.Duration, usage int64) {
			t.Helper()
			at := began.Add(end)
			if err := f.Record(web, Sample{Pod: slow, At: at, Length: length, Usage: usage}, f.now(at)); err != nil {
				t.Fatal(err)
			}
		}
		add(8*time.Minute, 8*time.Minute, 1000)
		add(12*time.Minute, 4*time.Minute, 4000) // Its middle is the end of the slot.
		add(20*time.Minute, 8*time.Minute, 0)
		near(t, "mean", of(f, slow).CPU.Percentile(1), 2)
	})
	t.Run("counts pods apart, and node types", func(t *testing.T) {
		f := slotted(t)
		other := Pod{UID: "other", NodeType: slow.NodeType}
		for i := range 4 {
			at := began.Add(time.Duration(10*i+5) * time.Minute)
			f.cpu(slow, at, 1000)
			f.cpu(other, at, 3000)
			f.cpu(fast, at, 5000)
		}
		near(t, "the lower pod", of(f, slow).CPU.Percentile(0.49), 1)
		near(t, "the higher pod", of(f, slow).CPU.Percentile(0.51), 3)
		near(t, "the other type", of(f, fast).CPU.Percentile(0.01), 5)
	})
	t.Run("ignores late samples and what was measured on another node", func(t *testing.T) {
		f := slotted(t)
		f.cpu(slow, began.Add(25*time.Minute), 1000)
		f.memory(slow, began.Add(45*time.Minute), 100*mib)
		f.memory(slow, began.Add(25*time.Minute), 900*mib)
		moved := Pod{UID: slow.UID, NodeType: fast.NodeType}
		f.cpu(moved, began.Add(50*time.Minute), 7000)
		f.memory(moved, began.Add(50*time.Minute), 50*mib)
		f.cpu(moved, began.Add(80*time.Minute), 0)
		f.memory(moved, began.Add(80*time.Minute), 50*mib)
		if all := of(f, slow); !all.CPU.Empty() || !all.Memory.Empty() {
			t.Error("a slot of two nodes counts")
		}
		near(t, "mean", of(f, moved).CPU.Percentile(1), 7)
		near(t, "peak", of(f, moved).Memory.Percentile(1), 50*mib)
	})
	t.Run("follows a clock that was ahead, and half-lives", func(t *testing.T) {
		f := slotted(t)
		ahead := began.Add(30 * 24 * time.Hour)
		for i := range 3 {
			f.cpu(slow, ahead.Add(time.Duration(10*i+5)*time.Minute), 1000)
		}
		f.clock = began
		f.options.CPUHalfLife = 12 * time.Hour
		for i := range 20 {
			f.cpu(slow, began.Add(time.Duration(10*i+5)*time.Minute), 3000)
		}
		all := of(f, slow)
		near(t, "most slots", all.CPU.Percentile(0.5), 3)
		near(t, "a few slots", all.CPU.Percentile(0.01), 1)
		if all.CPUSince.After(f.clock) {
			t.Errorf("since %v", all.CPUSince)
		}
	})
}
