package evidence

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"testing"
)

func TestKeyOf(t *testing.T) {
	t.Run("tells parts apart", func(t *testing.T) {
		if KeyOf("a", "b/c") == KeyOf("a/b", "c") || KeyOf("ab") == KeyOf("a", "b") || KeyOf() == KeyOf("") {
			t.Error("names of other parts have the same key")
		}
		if a, b := KeyOf("a", "b"), KeyOf([]string{"a", "b"}...); a != b {
			t.Error("a key changes")
		}
	})
	t.Run("cannot be chosen", func(t *testing.T) {
		// These have the same sum by FNV-1a.
		a, b := "8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ"
		sum := func(name string) uint64 {
			h := fnv.New64a()
			_, _ = h.Write([]byte(name))
			return h.Sum64()
		}
		if sum(a) != sum(b) {
			t.Fatal("these names show nothing")
		}
		if KeyOf(a) == KeyOf(b) {
			t.Error("two names have the same key")
		}
	})
}

func TestNames(t *testing.T) {
	t.Run("leaves out types that cannot be named", func(t *testing.T) {
		for _, name := range []string{strings.Repeat("n", MostNameBytes+1), "n4\xff"} {
			e := New()
			h := hour(0, []float64{1, 1}, []float64{1, 1})
			h.Replicas[2].NodeType, h.Replicas[3].NodeType = name, name
			if e.Add(h); len(e.Workloads) > 0 || len(e.Types) > 0 {
				t.Errorf("%.10q: %.80v", name, e.Types)
			}
		}
	})
	t.Run("does not know zones and models that cannot be named", func(t *testing.T) {
		e := New()
		h := hour(0, []float64{1, 1}, []float64{1, 1})
		for i := range h.Replicas {
			h.Replicas[i].Zone, h.Replicas[i].CPUModel = strings.Repeat("z", 1000), "\xff"
		}
		e.Add(h)
		if only(t, e).Like.N != 1 || len(e.Models)+len(e.Zones) > 0 {
			t.Errorf("%.80v, %.80v", e.Models, e.Zones)
		}
		for _, n := range e.Nodes {
			if n.Zone != -1 || n.Model != -1 {
				t.Errorf("%+v", n)
			}
		}
	})
	t.Run("has room again after made-up types", func(t *testing.T) {
		e := New()
		for i := range 3 * mostNames {
			h := hour(0, []float64{1, 1}, []float64{1, 1})
			h.Workload = Key(i)
			for j := range h.Replicas {
				r := &h.Replicas[j]
				r.NodeType, r.Zone, r.CPUModel = fmt.Sprint("made up ", i, j/2), fmt.Sprint(i), fmt.Sprint(i)
				r.Node = KeyOf(fmt.Sprint(i, j))
			}
			e.Add(h)
		}
		if len(e.Types) > mostNames || len(e.Zones) > mostNames || len(e.Models) > mostNames {
			t.Fatalf("%d types, %d zones, %d models", len(e.Types), len(e.Zones), len(e.Models))
		}
		e.Forget(began + forgotten + 1)
		if len(e.Types)+len(e.Zones)+len(e.Models)+len(e.Slowdown)+len(e.Places) > 0 {
			t.Fatalf("%d types, %d zones, %d models are left", len(e.Types), len(e.Zones), len(e.Models))
		}
		e.Add(hour(forgotten+2, []float64{1, 1}, []float64{1, 1}))
		if only(t, e); len(e.Types) != 2 {
			t.Errorf("%v", e.Types)
		}
	})
}

func TestNumbers(t *testing.T) {
	for name, change := range map[string]func(h *Hour){
		"an endless request":       func(h *Hour) { h.Replicas[0].Request = math.Inf(1) },
		"a negative request":       func(h *Hour) { h.Replicas[2].Request = -1 },
		"an unknown request":       func(h *Hour) { h.Replicas[2].Request = 0 },
		"endless work":             func(h *Hour) { h.Replicas[0].Work = math.Inf(1) },
		"nodes that are too busy":  func(h *Hour) { h.Replicas[0].Busy, h.Replicas[1].Busy = 1e300, -5 },
		"an hour before all hours": func(h *Hour) { h.At = -1 },
		"an hour after all hours":  func(h *Hour) { h.At = lastHour + 1 },
	} {
		e := New()
		e.Add(hour(0, []float64{1, 1}, []float64{1, 1}))
		h := hour(1, []float64{2, 2}, []float64{2, 2})
		change(&h)
		e.Add(h)
		w := e.Workloads[1]
		if only(t, e).Unlike.N > 0 {
			t.Errorf("%s: sizes are unlike", name)
		}
		if w.Last > lastHour || w.Last < began {
			t.Errorf("%s: the last hour is %d", name, w.Last)
		}
		for _, x := range []float64{only(t, e).Like.Mean, only(t, e).Sizes, only(t, e).Like.Busy[0], e.Slowdown[0].Squares, e.Nodes[KeyOf("0 0")].Busy} {
			if math.IsNaN(x) || math.Abs(x) > 1 {
				t.Errorf("%s: %v in %+v", name, x, only(t, e))
			}
		}
	}
}

func TestChurn(t *testing.T) {
	e := New()
	e.Types, e.Slowdown = []string{"n2d", "n4"}, make([]Slowdown, 2)
	for i := range mostWorkloads - 1 {
		e.Workloads[Key(i)] = &Workload{Last: began, Cells: []Cell{{B: 1, Seen: began}}}
	}
	if e.Forget(began); len(e.Workloads) != mostWorkloads-1 {
		t.Errorf("%d workloads that run are left", len(e.Workloads))
	}
	e = New()
	for i := range mostWorkloads + 1000 {
		h := hour(int64(i/100), []float64{1, 1}, []float64{1, 1})
		h.Workload = Key(i)
		for j := range h.Replicas {
			h.Replicas[j].Node = KeyOf(fmt.Sprint(i, j/2))
		}
		e.Add(h)
		if i%1000 == 0 {
			e.Forget(h.At)
		}
	}
	if e.Workloads[mostWorkloads+999] == nil || e.Workloads[0] != nil || len(e.Workloads) > mostWorkloads {
		t.Errorf("%d workloads, with the first: %v, with the last: %v", len(e.Workloads), e.Workloads[0] != nil, e.Workloads[mostWorkloads+999] != nil)
	}
	if last := e.Nodes[KeyOf(fmt.Sprint(mostWorkloads+999, 0))]; last == nil || len(e.Nodes) > mostNodes {
		t.Errorf("%d nodes, with the last: %v", len(e.Nodes), last != nil)
	}
}
