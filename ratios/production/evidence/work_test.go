package evidence

import (
	"math"
	"testing"
)

func TestWork(t *testing.T) {
	t.Run("compares days on different types", comparesDaysOnDifferentTypes)
	t.Run("counts each move once", countsEachMoveOnce)
	t.Run("compares no versions and no distant days", comparesNoVersionsAndNoDistantDays)
	t.Run("leaves out replicas whose work is not known", leavesOutReplicasWhoseWorkIsNotKnown)
	t.Run("does not separate sizes", doesNotSeparateSizes)
	t.Run("counts the nodes of workloads that move", countsTheNodesOfWorkloadsThatMove)
	t.Run("keeps nothing of workloads on one type without work", keepsNothingOfWorkloadsOnOneTypeWithoutWork)
}

// stay adds days on one type, on which a unit of work costs some CPU. Load swings, so that only a part of the hours count.
func stay(e *Evidence, kind string, from, days int64, cost float64, revision Key) {
	for at := from * 24; at < (from+days)*24; at++ {
		work := 1000 * math.Exp(0.3*math.Sin(float64(at)/4))
		h := Hour{Workload: 1, At: began + at}
		for range 2 {
			h.Replicas = append(h.Replicas, Replica{
				Node: KeyOf(kind), NodeType: kind, Zone: "a", CPU: work * cost, Work: work, Request: 1, Busy: 0.4, Whole: true, Revision: revision,
			})
		}
		e.Add(h)
		e.Forget(h.At)
	}
}

func comparesDaysOnDifferentTypes(t *testing.T) {
	e := New()
	stay(e, "n2d", 0, 2, 0.001, 0)
	stay(e, "n4", 2, 2, 0.0008, 0)
	stay(e, "n2d", 4, 2, 0.001, 0)
	c := only(t, e)
	if !near(c.Apart.Mean, math.Log(0.8)) || c.Apart.N < 1.8 || c.Apart.N > 2 || c.Hours() != 0 || c.Apart.Squares > 1e-9 {
		t.Errorf("%+v", c)
	}
	if !near(c.Replicas[0], 2) || !near(c.Apart.Busy[1], 0.4) {
		t.Errorf("%+v", c)
	}
}

func countsEachMoveOnce(t *testing.T) {
	e := New()
	stay(e, "n2d", 0, 1, 0.001, 0)
	stay(e, "n4", 1, 9, 0.0008, 0)
	if c := only(t, e); c.Apart.N > 1 {
		t.Errorf("one move counts %.1f times", c.Apart.N)
	}
}

func comparesNoVersionsAndNoDistantDays(t *testing.T) {
	e := New()
	stay(e, "n2d", 0, 2, 0.001, 0)
	stay(e, "n4", 2, 3, 0.0008, 1)
	if w := e.Workloads[1]; len(w.Cells) > 0 {
		t.Errorf("versions are compared: %+v", w.Cells)
	}
	e = New()
	stay(e, "n2d", 0, 2, 0.001, 0)
	stay(e, "n4", 6, 3, 0.0008, 0)
	if w := e.Workloads[1]; len(w.Cells) > 0 {
		t.Errorf("distant days are compared: %+v", w.Cells)
	}
}

func leavesOutReplicasWhoseWorkIsNotKnown(t *testing.T) {
	e := New()
	h := hour(0, []float64{1, 1, 7}, []float64{1, 1, 9})
	for i := range h.Replicas {
		h.Replicas[i].Work = []float64{100, 100, 0, 200, 200, 0}[i]
	}
	e.Add(h)
	if c := only(t, e); !near(c.Like.Mean, -math.Log(2)) || !e.Workloads[1].Known {
		t.Errorf("%+v", c)
	}
	e = New()
	h.Replicas[0].Work, h.Replicas[3].Work = 0, 0
	e.Add(h)
	if e.Workloads[1].Known {
		t.Error("the work of few replicas is enough")
	}
}

func doesNotSeparateSizes(t *testing.T) {
	e := New()
	h := hour(0, []float64{1, 1}, []float64{1, 1})
	for i := range h.Replicas {
		h.Replicas[i].Work, h.Replicas[i].Request = 100, float64(1+i/2)
	}
	e.Add(h)
	if c := only(t, e); c.Like.N != 1 || c.Unlike.N != 0 {
		t.Errorf("%+v", c)
	}
}

func countsTheNodesOfWorkloadsThatMove(t *testing.T) {
	e := New()
	stay(e, "n2d", 0, 2, 0.001, 0)
	if n := e.Nodes[KeyOf("n2d")]; n.Compared > 0 {
		t.Error("a node counts before anything was compared")
	}
	stay(e, "n4", 2, 3, 0.0008, 0)
	if n := e.Nodes[KeyOf("n4")]; n.Compared == 0 {
		t.Error("the node of a day that was compared does not count")
	}
}

func keepsNothingOfWorkloadsOnOneTypeWithoutWork(t *testing.T) {
	e := New()
	e.Add(hour(0, []float64{1, 1, 1, 1}, nil))
	if len(e.Workloads) > 0 {
		t.Errorf("%+v", e.Workloads[1])
	}
}
