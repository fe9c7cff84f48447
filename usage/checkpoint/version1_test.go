package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workload-resizer/workload-resizer/test/footprint"
	"github.com/workload-resizer/workload-resizer/usage/histogram"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// plain is a history as plain values.
type plain struct {
	CPUHalfLife, MemoryHalfLife time.Duration
	Hours                       [3]history.Hours
	Types                       []plainSeries
	Windows                     map[history.PodID]*history.Window
}

type plainSeries struct {
	NodeType               string
	First, Last, Heard     time.Time
	Samples                int
	CPU, Memory, Throttled histogram.State
	Pressed                *histogram.State
	Week                   *history.Week
}

func plainOf(s *history.State) plain {
	p := plain{s.Shapes.CPU.HalfLife, s.Shapes.Memory.HalfLife, [3]history.Hours{}, nil, s.Windows}
	for i, t := range s.Types {
		if p.Hours = t.Hours; t.Hours != s.Types[0].Hours {
			p.Hours = [3]history.Hours{{First: int64(i)}}
		}
		of := plainSeries{t.NodeType, t.First, t.Last, t.Heard, t.Samples, t.CPU.State(), t.Memory.State(), t.Throttled.State(), nil, t.Week}
		if t.Pressed != nil {
			pressed := t.Pressed.State()
			of.Pressed = &pressed
		}
		p.Types = append(p.Types, of)
	}
	return p
}

// version1Golden returns a shard that the last release with version 1 wrote, and what it read from it.
func version1Golden(t testing.TB) (form []byte, want struct {
	Written      time.Time
	Index, Count int
	Progress     map[string]time.Time
	Containers   []struct {
		Container history.Container
		Ratios    []string
		History   plain
	}
}) {
	t.Helper()
	form, err := os.ReadFile("testdata/version1.bin")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/version1.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	return form, want
}

func TestVersion1(t *testing.T) {
	form, want := version1Golden(t)
	h, stored, _, err := unpack(form)
	if err != nil || h != (header{want.Written, want.Index, want.Count}) {
		t.Fatalf("%+v, %v", h, err)
	}
	same := cmp.Options{cmpopts.IgnoreUnexported(history.Window{}), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(want.Progress, stored.progress); diff != "" || len(stored.forms) != len(want.Containers) {
		t.Fatalf("%d containers, %s", len(stored.forms), diff)
	}
	for i, of := range want.Containers {
		c, err := stored.unpack(stored.forms[i])
		if err != nil || c.Container != of.Container || !slices.Equal(c.ratios, of.Ratios) {
			t.Fatalf("%v, %q, %v", c.Container, c.ratios, err)
		}
		if diff := cmp.Diff(of.History, plainOf(c.State), same); diff != "" {
			t.Error(diff)
		}
		b, err := c.append(nil)
		if err != nil {
			t.Fatal(err)
		}
		now, err := unpackContainer(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(of.History, plainOf(now.State), same); diff != "" {
			t.Errorf("in the current version: %s", diff)
		}
		for n := range stored.forms[i] {
			if _, err := stored.unpack(stored.forms[i][:n]); err == nil {
				t.Errorf("%d of %d bytes are accepted", n, len(stored.forms[i]))
			}
		}
	}
	t.Run("is rejected if it is cut", func(t *testing.T) {
		for n := sealed; n < len(form); n++ {
			if _, _, _, err := unpack(resealed(slices.Clone(form[:n]))); err == nil {
				t.Errorf("%d of %d bytes are accepted", n, len(form))
			}
		}
	})
	t.Run("takes little memory for windows that say nothing", func(t *testing.T) {
		const n = 1 << 20
		form := []byte{0, 1, 0, 0, 0, 0, 2, 2}          // no ratios, the version, no names, and the half-lives
		form = append(form, make([]byte, 2+24)...)      // the hours of cpu
		form = append(form, 2, 2)                       // those of memory are the same
		form = append(form, 2)                          // one node type
		form = append(form, make([]byte, 1+3+1+3+2)...) // which has nothing
		form = append(binary.AppendUvarint(form, n), make([]byte, n)...)
		footprint.CheckAllocated(t, len(form), func() {
			if _, err := version1Container(form); err == nil {
				t.Error("no error")
			}
		})
	})
	t.Run("takes little memory, whatever it says", func(t *testing.T) {
		for _, n := range []int{0, 1 << 10, 1 << 20} {
			form := append(binary.AppendUvarint(nil, uint64(n)), make([]byte, n)...)
			footprint.CheckAllocated(t, n, func() {
				if _, err := version1Container(form); err == nil {
					t.Error("no error")
				}
			})
		}
	})
}

// FuzzVersion1 checks that any bytes are rejected or form a container that can be used, and take little memory.
func FuzzVersion1(f *testing.F) {
	form, _ := version1Golden(f)
	_, stored, _, err := unpack(form)
	if err != nil {
		f.Fatal(err)
	}
	for _, form := range stored.forms {
		f.Add(form)
	}
	f.Fuzz(func(t *testing.T, form []byte) {
		var c container
		var err error
		footprint.CheckAllocated(t, len(form), func() { c, err = version1Container(form) })
		if err == nil {
			fuzzContainer(t, c)
		}
	})
}
