package checkpoint

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// steadyOf returns the slots of a node type; nil without any.
func steadyOf(t testing.TB, h *history.History, nodeType string, now time.Time) *history.Steady {
	t.Helper()
	v, _ := h.View(web, now)
	for i := range v.Types {
		if v.Types[i].NodeType == nodeType {
			return v.Types[i].Steady
		}
	}
	t.Fatalf("nothing is known of %s", nodeType)
	return nil
}

// shown returns all that follows from slots.
func shown(s *history.Steady) (text string) {
	for _, p := range []float64{0.01, 0.25, 0.5, 0.75, 0.9, 1} {
		text += fmt.Sprintf("%v %v, ", s.CPU.Percentile(p), s.Memory.Percentile(p))
	}
	return text + fmt.Sprintf("since %v and %v", s.CPUSince, s.MemorySince)
}

func keepsSlots(t *testing.T) {
	now := began.Add(84 * time.Hour)
	h := filled(t, hourly)
	// use records what both pods use until now, at the end of each slot, so that each slot has one sample.
	use := func(h *history.History, steps ...int) {
		t.Helper()
		for _, i := range steps {
			at := now.Add(time.Duration(i) * 30 * time.Minute)
			for j, pod := range []history.Pod{slow, fast} {
				for _, s := range []history.Sample{{Usage: int64(50 + 300*j + i*17%90)}, {Resource: history.Memory, Usage: int64(2e8 + 3e7*float64(i*7%11))}} {
					s.Pod, s.At, s.Length = pod, at, 10*time.Minute
					if err := h.Record(web, s, at); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	use(h, 2, 3, 4, 5)
	later := now.Add(150 * time.Minute)
	stored := form(t, h.State(web), "all")
	t.Run("so that each replica that reads them has the same", func(t *testing.T) {
		for _, nodeType := range []string{"n2d", "c3"} {
			want := shown(steadyOf(t, h, nodeType, later))
			for range 2 {
				if got := shown(steadyOf(t, again(t, stored, hourly, later), nodeType, later)); got != want {
					t.Errorf("%s: %s\nwant %s", nodeType, got, want)
				}
			}
		}
	})
	t.Run("except for those that are open at a restart", func(t *testing.T) {
		restarted, steps := again(t, stored, hourly, later), []int{6, 7, 8, 9, 10}
		use(restarted, steps...)
		// Without a restart, but as if the open slots had had no samples.
		want := filled(t, hourly)
		use(want, 2, 3, 4)
		use(want, steps...)
		for _, nodeType := range []string{"n2d", "c3"} {
			at := now.Add(5 * time.Hour)
			if got, want := shown(steadyOf(t, restarted, nodeType, at)), shown(steadyOf(t, want, nodeType, at)); got != want {
				t.Errorf("%s: %s\nwant %s", nodeType, got, want)
			}
		}
	})
	t.Run("only if there are any", func(t *testing.T) {
		without := history.DefaultOptions()
		none := func(history.Container) history.Options { return without }
		older := form(t, filled(t, none).State(web))
		var m storedv2.Container
		if err := proto.Unmarshal(older, &m); err != nil {
			t.Fatal(err)
		}
		for _, of := range m.NodeTypes {
			if of.Steady != nil {
				t.Errorf("%s has %v", of.Name, of.Steady)
			}
		}
		// As what an earlier version has stored, it gets slots from then on.
		restarted := again(t, older, hourly, now)
		if s := steadyOf(t, restarted, "n2d", now); s != nil {
			t.Errorf("%+v", s)
		}
		use(restarted, 2, 3)
		if s := steadyOf(t, restarted, "n2d", now.Add(90*time.Minute)); s.CPU.Empty() || !s.CPUSince.Equal(now.Add(time.Hour)) || !s.MemorySince.Equal(now.Add(time.Hour)) {
			t.Errorf("%+v", s)
		}
	})
	t.Run("that an earlier version has kept, with the same times", func(t *testing.T) {
		var m storedv2.Container
		if err := proto.Unmarshal(stored, &m); err != nil {
			t.Fatal(err)
		}
		for _, of := range m.NodeTypes {
			slots, err := proto.Marshal(&storedv2.NodeType{Steady: of.Steady})
			if err != nil {
				t.Fatal(err)
			}
			of.Steady = nil
			of.ProtoReflect().SetUnknown(slots)
		}
		m.NewestNanos += int64(100 * time.Hour) // It has counted samples since then.
		kept, err := proto.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		for _, nodeType := range []string{"n2d", "c3"} {
			if got, want := shown(steadyOf(t, again(t, kept, hourly, later), nodeType, later)), shown(steadyOf(t, h, nodeType, later)); got != want {
				t.Errorf("%s: %s\nwant %s", nodeType, got, want)
			}
		}
	})
	t.Run("with the same bytes again", func(t *testing.T) {
		if got := form(t, again(t, stored, hourly, later).State(web), "all"); !bytes.Equal(got, stored) {
			t.Error("the bytes differ")
		}
	})
}
