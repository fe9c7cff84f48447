package evidence

import (
	"math"
	"testing"
)

func TestUsesOf(t *testing.T) {
	h := hour(0, []float64{1, 2, 4}, []float64{1, 1, 8})
	h.Replicas[2].Whole = false    // Its cores are on the type.
	h.Replicas[5].Zone = "b"       // There is one of n4 there, and none of n2d.
	h.Replicas[0].Throttled = true // Nobody compares it, but its cores are on the type.
	uses := usesOf(h.Replicas, false)
	if len(uses) != 2 || uses[0] != (use{"n2d", 7, 3}) || uses[1] != (use{"n4", 2, 2}) {
		t.Errorf("%+v", uses)
	}
	h.Replicas[1].Whole = false // One of n2d is left that can be compared.
	if uses := usesOf(h.Replicas, false); len(uses) > 0 {
		t.Errorf("%+v", uses)
	}
	if uses := usesOf(h.Replicas, true); len(uses) != 1 || uses[0] != (use{"n4", 10, 3}) {
		t.Errorf("with work that is known: %+v", uses)
	}
}

func TestEachOfHoursThatCompareNothing(t *testing.T) {
	e := New()
	for at := range int64(30) {
		h := hour(at, []float64{1, 1}, []float64{1, 1})
		for i := range h.Replicas {
			h.Replicas[i].Work = 1 + float64(at) // Each hour is in the upper half.
			h.Replicas[i].Whole = at%3 > 0 || i == 0
		}
		e.Add(h)
	}
	if each := e.Workloads[1].Each; math.Abs(each-1) > 1e-9 {
		t.Errorf("each replica uses %.2f cores, want 1", each)
	}
}
