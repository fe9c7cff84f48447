package stored

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
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
	t.Run("has at most 2 MB for 10,000 workloads", hasAtMost2MBFor10000Workloads)
	t.Run("keeps what hostile names say", keepsWhatHostileNamesSay)
	t.Run("keeps costs, places and moves", keepsCostsPlacesAndMoves)
	t.Run("keeps the namespaces of most workloads", keepsTheNamespacesOfMostWorkloads)
	t.Run("reads older versions", readsOlderVersions)
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
		if x.Last != w.Last || x.Half != w.Half || len(x.Cells) != len(w.Cells) || math.Abs(x.Throttled-w.Throttled) > w.Throttled/256 ||
			math.Abs(x.Load.Middle-w.Load.Middle) > 2.0/steps+1e-9 || math.Abs(x.Load.Swing-w.Load.Swing) > 0.5/swingSteps {
			t.Fatalf("%+v, want %+v", x, w)
		}
		for i := range w.Cells {
			a, b := &x.Cells[i], &w.Cells[i]
			b.Slope = b.Slope.Closed()
			if a.A != b.A || a.B != b.B {
				t.Errorf("%+v, want %+v", a, b)
			}
			for _, pair := range [][2]float64{{a.Like.Mean, b.Like.Mean}, {a.Unlike.Mean, b.Unlike.Mean}, {a.Slope.Mean, b.Slope.Mean}, {a.Change.Mean, b.Change.Mean}} {
				if math.Abs(pair[0]-pair[1]) > 0.5/steps+1e-9 {
					t.Errorf("%v, want %v", pair[0], pair[1])
				}
			}
			for _, pair := range [][2]float64{
				{a.Like.N, b.Like.N}, {a.Unlike.N, b.Unlike.N}, {a.Slope.Weight, b.Slope.Weight}, {a.Uses.N, b.Uses.N},
			} {
				if pair[1] == 0 || math.Abs(math.Log2(pair[0]/pair[1])) > 0.5/weightSteps+1e-9 {
					t.Errorf("%v, want %v", pair[0], pair[1])
				}
			}
			for _, pair := range [][2]float64{
				{a.Change.Hours, b.Change.Hours}, {x.Each, w.Each},
			} {
				if pair[1] == 0 || math.Abs(pair[0]-pair[1]) > pair[1]/256 {
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
				if math.Abs(math.Log2(a.Spread[side]/b.Spread[side])) > 0.5/spreadSteps || math.Abs(math.Log2(a.Uses.Cores[side]/b.Uses.Cores[side])) > 0.5/coreSteps+1e-9 || math.Abs(a.Unlike.Busy[side]-b.Unlike.Busy[side]) > 0.5/busySteps || math.Abs(a.Like.Busy[side]-b.Like.Busy[side]) > 0.5/busySteps {
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
		small, large := full(10, tc.kinds, tc.zones, 100), full(20, tc.kinds, tc.zones, 100)
		each := float64(len(Write(large))-len(Write(small))) / 10
		t.Logf("%d types in %d zones: %.0f bytes per workload", tc.kinds, tc.zones, each)
		if each > 200 {
			t.Errorf("%d types in %d zones: %.0f bytes per workload", tc.kinds, tc.zones, each)
		}
	}
}

// largest returns evidence of 10,000 workloads of which all is known that can be, with names that are as long and as many as is
// possible.
func largest(known bool) *evidence.Evidence {
	e := evidence.New()
	for i := range 250 {
		name := fmt.Sprintf("%0*d", evidence.MostNameBytes, i)
		e.Types, e.Models, e.Zones = append(e.Types, name), append(e.Models, name), append(e.Zones, name)
		e.Slowdown = append(e.Slowdown, evidence.Slowdown{Squares: 1, Products: 1, Count: 1})
	}
	compared := evidence.Compared{Moments: evidence.Moments{N: 300, Mean: 1, Squares: 3}}
	for i := range evidence.MostPlaces {
		e.Places = append(e.Places, evidence.Place{A: i % 200, B: 201, Zone: i % 250, Last: 500_000, Halves: [2]evidence.Deviation{{Weight: 1, Sum: 1}, {Weight: 1, Sum: 1}}})
	}
	for i := range 10_000 {
		w := &evidence.Workload{Last: 500_000 - int64(i%1400), Namespace: evidence.Key(1 + i), Known: known, Each: 1e6, Throttled: 100}
		for j := range evidence.MostCells {
			c := evidence.Cell{A: j, B: 200 + j, Spread: [2]float64{1, 1}, Replicas: [2]float64{9, 9}, Like: compared, Uses: evidence.Uses{N: 600, Cores: [2]float64{1e6, 1e6}}}
			if known {
				c.Apart = compared
			} else {
				c.Unlike, c.Sizes, c.Change = compared, 1, evidence.Change{Hours: 48, Mean: 1, Sizes: 1}
				c.Slope = evidence.Slope{Weight: 10, Mean: 1, Squares: 1, Days: 20}
			}
			w.Cells = append(w.Cells, c)
		}
		for j := range evidence.MostCosts {
			if known {
				w.Costs = append(w.Costs, evidence.Cost{Type: j, Day: 20_000, Mean: 1, Replicas: 9})
			}
		}
		e.Workloads[evidence.Key(i)] = w
		if i < 5_000 {
			h := evidence.Deviation{Weight: 1, Sum: 1}
			e.Nodes[evidence.Key(i)] = &evidence.Node{Last: 500_000 - int64(i%1400), Type: 249, Model: 249, Zone: 249, Halves: [2]evidence.Deviation{h, h}, Compared: 1}
		}
	}
	return e
}

func hasAtMost2MBFor10000Workloads(t *testing.T) {
	for _, known := range []bool{false, true} {
		b := Write(largest(known))
		t.Logf("work known: %v: %d bytes", known, len(b))
		if len(b) > 2_000_000 {
			t.Errorf("%d bytes", len(b))
		}
		if _, err := Read(b); err != nil {
			t.Error(err)
		}
	}
}

// keepsWhatHostileNamesSay checks that evidence with any names, of which some cannot be kept, is stored and read.
func keepsWhatHostileNamesSay(t *testing.T) {
	e := evidence.New()
	long := strings.Repeat("x", 5000)
	for i, name := range []string{"n4", "", "\xff\xfe", long, "n4\x00", "n4\n", strings.Repeat("ü", 31), strings.Repeat("ü", 32)} {
		for at := range int64(30) {
			h := evidence.Hour{Workload: evidence.KeyOf(name, fmt.Sprint(i)), At: 480_000 + at}
			for j := range 8 {
				kind := name
				if j >= 4 {
					kind = "n2d"
				}
				h.Replicas = append(h.Replicas, evidence.Replica{
					Node: evidence.KeyOf(name, fmt.Sprint(j)), NodeType: kind, Zone: name + fmt.Sprint(j%2), CPUModel: name, CPU: float64(1 + at), Whole: true,
				})
			}
			e.Add(h)
		}
	}
	if len(e.Workloads) != 5 {
		t.Errorf("%d workloads", len(e.Workloads))
	}
	written := Write(e)
	got, err := Read(written)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(Write(got), written) || !slices.Equal(got.Types, e.Types) {
		t.Errorf("%q, want %q", got.Types, e.Types)
	}
}

func keepsCostsPlacesAndMoves(t *testing.T) {
	e := evidence.New()
	for at := range int64(8 * 24) {
		h := evidence.Hour{Workload: 1, At: 480_000 + at}
		for i := range 4 {
			work := 1000 * math.Exp(math.Sin(float64(at)/4))
			h.Replicas = append(h.Replicas, evidence.Replica{
				Node: evidence.KeyOf(fmt.Sprint(at/48%2, i)), NodeType: fmt.Sprint("t", at/48%2), Zone: fmt.Sprint(i % 2), CPU: work * 1e-4, Work: work, Busy: 0.5, Whole: true, Revision: 1 << 20,
			})
		}
		e.Add(h)
		h.Workload = 2
		for i := range h.Replicas {
			r := &h.Replicas[i]
			r.Work, r.NodeType = 0, "t0"
			other := *r
			other.NodeType = "t1"
			h.Replicas = append(h.Replicas, *r, other, other)
		}
		e.Add(h)
	}
	got, err := Read(Write(e))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Places) != 2 || len(got.Places) != 2 || got.Places[1].Zone != e.Places[1].Zone || got.Places[1].Last != e.Places[1].Last {
		t.Fatalf("%+v, want %+v", got.Places, e.Places)
	}
	x0, y0 := got.Places[1].Halves, e.Places[1].Halves
	if x0[1] != y0[1] || math.Abs(x0[0].Weight/y0[0].Weight-1) > 1.0/256 || math.Abs(x0[0].Mean()-y0[0].Mean()) > 1.0/steps {
		t.Errorf("%+v, want %+v", x0, y0)
	}
	a, b := got.Workloads[1], e.Workloads[1]
	if !a.Known || len(b.Costs) != 2 || len(a.Costs) != 2 {
		t.Fatalf("%+v, want %+v", a, b)
	}
	for i := range b.Costs {
		x, y := a.Costs[i], b.Costs[i]
		if x.Type != y.Type || x.Day != y.Day || x.Revision != y.Revision || math.Abs(x.Mean-y.Mean) > 1e-6 || x.Busy != y.Busy {
			t.Errorf("%+v, want %+v", x, y)
		}
	}
	x, y := a.Cells[0].Apart, b.Cells[0].Apart
	if y.N < 2 || math.Abs(math.Log2(x.N/y.N)) > 0.5/weightSteps || math.Abs(x.Mean-y.Mean) > 1.0/steps || x.Busy != y.Busy {
		t.Errorf("%+v, want %+v", x, y)
	}
}

func keepsTheNamespacesOfMostWorkloads(t *testing.T) {
	e := full(3, 2, 1, 30)
	for i := range mostNamespaces {
		w := *e.Workloads[evidence.KeyOf("0")]
		w.Namespace = evidence.Key(100 + i)
		e.Workloads[evidence.Key(i)] = &w
	}
	e.Workloads[evidence.KeyOf("0")].Namespace, e.Workloads[evidence.KeyOf("1")].Namespace = 7, 7
	got, err := Read(Write(e))
	if err != nil {
		t.Fatal(err)
	}
	unknown := 0
	for key, w := range e.Workloads {
		switch x := got.Workloads[key]; {
		case x.Last != w.Last:
			t.Fatalf("last seen at %d, want %d", x.Last, w.Last)
		case x.Namespace == 0 && w.Namespace != 0:
			unknown++
		case x.Namespace != w.Namespace:
			t.Fatalf("%d, want %d", x.Namespace, w.Namespace)
		}
	}
	if got.Workloads[evidence.KeyOf("1")].Namespace != 7 || unknown != 1 {
		t.Errorf("%d are not known: there is one namespace too many, and that of two workloads is not it", unknown)
	}
}

// readsOlderVersions reads what releases before wrote of the same evidence: nothing is collected again after an upgrade.
func readsOlderVersions(t *testing.T) {
	for _, name := range []string{"version2", "version3"} {
		t.Run(name, func(t *testing.T) { readsAnOlderVersion(t, "testdata/"+name) })
	}
}

func readsAnOlderVersion(t *testing.T, path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(b)
	if err != nil {
		t.Fatal(err)
	}
	want := full(4, 3, 2, 60)
	near := func(a, b float64) bool { return a/b < 2 && b/a < 2 }
	for key, w := range want.Workloads {
		x := got.Workloads[key]
		if x == nil || len(x.Cells) != len(w.Cells) || !near(x.Each, w.Each) || x.Half != int(key%2) {
			t.Fatalf("%+v, want %+v", x, w)
		}
		w.Each, w.Half = x.Each, x.Half
		for i := range w.Cells {
			own, u := &w.Cells[i].Uses, x.Cells[i].Uses
			if u.N != 24 || !near(u.Cores[0], own.Cores[0]) || !near(u.Cores[1], own.Cores[1]) {
				t.Errorf("%+v, want about %+v", u, own)
			}
			*own = u // All replicas were compared, but older forms know only the cores of the last day.
		}
	}
	for key, n := range want.Nodes {
		if x := got.Nodes[key]; x == nil || x.Last != n.Last || math.Abs(x.Weight()/n.Weight()-1) > 0.01 {
			t.Errorf("%+v, want %+v", x, n)
		}
	}
	for i := range want.Places {
		x, y := &got.Places[i], &want.Places[i]
		if x.A != y.A || x.Zone != y.Zone || x.Last != y.Last || math.Abs((x.Halves[0].Weight+x.Halves[1].Weight)/(y.Halves[0].Weight+y.Halves[1].Weight)-1) > 0.01 {
			t.Errorf("%+v, want %+v", x, y)
		}
	}
	// How the deviations of nodes and zones are added up has changed since. Workloads are the same, bit by bit.
	want.Nodes, want.Slowdown, want.Places = got.Nodes, got.Slowdown, got.Places
	if !bytes.Equal(Write(got), Write(want)) {
		t.Error("it differs from what this version writes")
	}
}

func rejectsWhatIsNotEvidence(t *testing.T) {
	good := Write(full(3, 2, 1, 30))
	for name, tc := range map[string]struct {
		bytes []byte
		want  string
	}{
		"nothing":            {nil, "it ends too early"},
		"the next version":   {append([]byte{version + 1}, good[1:]...), "this release reads only versions 2 to 4"},
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
