package stored

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// full returns evidence of workloads that each run on several types in several zones.
func full(workloads, kinds, zones, hours int) *evidence.Evidence {
	e := evidence.New()
	random := rand.New(rand.NewPCG(1, 2))
	for at := range hours {
		for w := range workloads {
			h := evidence.Hour{Workload: evidence.KeyOf(fmt.Sprint(w)), At: int64(480_000 + at)}
			for i := range 2 * kinds * zones {
				kind, zone := i/2%kinds, i/2/kinds
				request := 1.0
				if at > hours/2 {
					request = 1 / (1 + float64(kind)/10)
				}
				h.Replicas = append(h.Replicas, evidence.Replica{
					Node: evidence.KeyOf(fmt.Sprint(w%10, i)), NodeType: fmt.Sprintf("n2d-%d", kind), Zone: fmt.Sprintf("eu-%d", zone), CPUModel: "milan",
					CPU: math.Exp(math.Sin(float64(at)/4) + 0.2*random.NormFloat64()), Request: request, Busy: random.Float64(), Whole: true,
				})
			}
			h.Replicas[0].Throttled = at%10 == 9
			e.Add(h)
		}
	}
	return e
}

func TestStored(t *testing.T) {
	t.Run("what was read is written alike", whatWasReadIsWrittenAlike)
	t.Run("keeps what estimates need", keepsWhatEstimatesNeed)
	t.Run("has at most 200 bytes per workload", hasAtMost200BytesPerWorkload)
	t.Run("rejects what is not evidence", rejectsWhatIsNotEvidence)
}

func whatWasReadIsWrittenAlike(t *testing.T) {
	written := Write(full(20, 3, 2, 60))
	e, err := Read(written)
	if err != nil {
		t.Fatal(err)
	}
	if again := Write(e); !bytes.Equal(again, written) {
		t.Error("it changes")
	}
}

func keepsWhatEstimatesNeed(t *testing.T) {
	e := full(20, 3, 2, 150)
	got, err := Read(Write(e))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Workloads) != len(e.Workloads) || len(got.Nodes) != len(e.Nodes) || len(got.Slowdown) != len(e.Slowdown) {
		t.Fatalf("%d workloads and %d nodes", len(got.Workloads), len(got.Nodes))
	}
	for key, n := range e.Nodes {
		x := got.Nodes[key]
		if x.Type != n.Type || x.Last != n.Last || math.Abs(x.Busy/x.Weight()-n.Busy/n.Weight()) > 1.0/steps || math.Abs(x.Halves[0].Mean()-n.Halves[0].Mean()) > 0.5/steps+1e-9 {
			t.Errorf("%+v, want %+v", x, n)
		}
	}
	for key, w := range e.Workloads {
		x := got.Workloads[key]
		if x.Last != w.Last || len(x.Cells) != len(w.Cells) || math.Abs(x.Throttled-w.Throttled) > w.Throttled/256 ||
			math.Abs(x.Load.Middle-w.Load.Middle) > 2.0/steps+1e-9 || math.Abs(x.Load.Swing-w.Load.Swing) > 0.5/swingSteps {
			t.Fatalf("%+v, want %+v", x, w)
		}
		for i := range w.Cells {
			a, b := &x.Cells[i], &w.Cells[i]
			if a.A != b.A || a.B != b.B {
				t.Errorf("%+v, want %+v", a, b)
			}
			for _, pair := range [][2]float64{{a.Like.Mean, b.Like.Mean}, {a.Unlike.Mean, b.Unlike.Mean}, {a.Slope.Mean, b.Slope.Mean}, {a.Change.Mean, b.Change.Mean}} {
				if math.Abs(pair[0]-pair[1]) > 0.5/steps+1e-9 {
					t.Errorf("%v, want %v", pair[0], pair[1])
				}
			}
			for _, pair := range [][2]float64{
				{a.Like.N, b.Like.N}, {a.Unlike.N, b.Unlike.N}, {a.Slope.Weight, b.Slope.Weight}, {a.Change.Hours, b.Change.Hours},
			} {
				if math.Abs(pair[0]-pair[1]) > pair[1]/256 {
					t.Errorf("%v, want %v", pair[0], pair[1])
				}
			}
			for _, pair := range [][2]float64{
				{a.Like.Squares + a.Unlike.Squares, b.Like.Squares + b.Unlike.Squares}, {a.Slope.Squares, b.Slope.Squares},
			} {
				if math.Abs(pair[0]-pair[1]) > pair[1]*0.08+1e-5 {
					t.Errorf("squares %v, want %v", pair[0], pair[1])
				}
			}
			if b.Change.Hours == 0 || b.Seen-a.Seen > agoHours {
				t.Errorf("%+v, want %+v", a, b)
			}
			for side := range 2 {
				if math.Abs(math.Log2(a.Spread[side]/b.Spread[side])) > 0.5/spreadSteps || math.Abs(a.Unlike.Busy[side]-b.Unlike.Busy[side]) > 0.5/busySteps || math.Abs(a.Like.Busy[side]-b.Like.Busy[side]) > 0.5/busySteps {
					t.Errorf("%+v, want %+v", a, b)
				}
			}
			if a.Replicas != b.Replicas || math.Abs(a.Sizes-b.Sizes) > 0.5/sizeSteps || math.Abs(a.Slope.Days-b.Slope.Days) > 0.5/daySteps {
				t.Errorf("%+v, want %+v", a, b)
			}
		}
	}
}

func hasAtMost200BytesPerWorkload(t *testing.T) {
	for _, tc := range []struct{ kinds, zones int }{{2, 1}, {3, 3}, {7, 1}, {9, 2}} {
		small, large := full(10, tc.kinds, tc.zones, 40), full(30, tc.kinds, tc.zones, 40)
		each := float64(len(Write(large))-len(Write(small))) / 20
		t.Logf("%d types in %d zones: %.0f bytes per workload", tc.kinds, tc.zones, each)
		if each > 200 {
			t.Errorf("%d types in %d zones: %.0f bytes per workload", tc.kinds, tc.zones, each)
		}
	}
}

func rejectsWhatIsNotEvidence(t *testing.T) {
	good := Write(full(3, 2, 1, 30))
	for name, tc := range map[string]struct {
		bytes []byte
		want  string
	}{
		"nothing":            {nil, "it ends too early"},
		"the next version":   {append([]byte{version + 1}, good[1:]...), "this release reads only version 2"},
		"half of it":         {good[:len(good)/2], "it ends too early"},
		"more than evidence": {append(bytes.Clone(good), 0), "1 bytes are left"},
	} {
		if _, err := Read(tc.bytes); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "delete it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRead checks that any bytes are either rejected or valid evidence, which can be written and added to.
func FuzzRead(f *testing.F) {
	f.Add(Write(evidence.New()))
	f.Add(Write(full(2, 3, 2, 30)))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Read(b)
		if err != nil {
			return
		}
		again, err := Read(Write(e))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if !bytes.Equal(Write(again), Write(e)) {
			t.Error("it changes")
		}
		for key, w := range e.Workloads {
			e.Add(evidence.Hour{Workload: key, At: w.Last + 1, Replicas: []evidence.Replica{
				{NodeType: "a", CPU: 1, Whole: true}, {NodeType: "a", CPU: 1, Whole: true}, {NodeType: "b", CPU: 1, Whole: true}, {NodeType: "b", CPU: 1, Whole: true},
			}})
		}
	})
}
