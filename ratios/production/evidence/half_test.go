package evidence

import (
	"fmt"
	"testing"
)

// TestHalves checks that both halves see what few workloads have in common, whatever their names are.
func TestHalves(t *testing.T) {
	for name, keys := range map[string][]Key{"even": {2, 4, 6, 8, 10}, "odd": {1, 3, 5, 7, 9}, "both": {1, 2, 3, 5, 7}} {
		e := New()
		for i := range 101 { // Many others compare other types.
			h := hour(0, []float64{1, 1}, []float64{1, 1})
			h.Workload = Key(2000 + 2*i)
			for r := range h.Replicas {
				h.Replicas[r].NodeType += " of others"
				h.Replicas[r].Node = KeyOf("other")
			}
			e.Add(h)
		}
		for at := range int64(3) {
			e.Forget(began + at)
			for _, key := range keys {
				h := hour(at, []float64{1, 1, 1.1, 1.1}, []float64{1, 1, 1, 1})
				h.Workload = key
				for i := range h.Replicas {
					h.Replicas[i].Zone = [2]string{"a", "b"}[i%4/2]
				}
				e.Add(h)
			}
		}
		count := [2]int{}
		for _, key := range keys {
			count[e.Workloads[key].Half]++
		}
		if min(count[0], count[1]) != 2 {
			t.Errorf("%s: %v workloads in each half, want 2 and 3", name, count)
		}
		for _, p := range e.Places {
			if p.Halves[0].Weight == 0 || p.Halves[1].Weight == 0 {
				t.Errorf("%s: a half sees nothing of a zone: %+v", name, p)
			}
		}
		if n := e.Nodes[KeyOf("0 0")]; n.Halves[0].Weight == 0 || n.Halves[1].Weight == 0 {
			t.Errorf("%s: a half sees nothing of a node: %+v", name, n)
		}
	}
}

// TestHalvesOfSmallWorkloads checks that those that hardly use CPU, and so show nothing of zones and nodes, do not move others into the same half.
func TestHalvesOfSmallWorkloads(t *testing.T) {
	e := New()
	for i := range 6 {
		h := hour(0, []float64{1, 1}, []float64{1, 1})
		if h.Workload = Key(i); i%2 == 1 {
			h = hour(0, []float64{0.01, 0.01}, []float64{0.01, 0.01})
			h.Workload = KeyOf(fmt.Sprint(i))
		}
		e.Add(h)
	}
	if a, b, c := e.Workloads[0].Half, e.Workloads[2].Half, e.Workloads[4].Half; a == b || b == c {
		t.Errorf("halves %d, %d and %d", a, b, c)
	}
}
