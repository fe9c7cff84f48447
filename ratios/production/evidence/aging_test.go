package evidence

import (
	"fmt"
	"math"
	"reflect"
	"testing"
)

func TestAging(t *testing.T) {
	t.Run("pairs end that are no longer seen", pairsEndThatAreNoLongerSeen)
	t.Run("hours without samples say nothing", hoursWithoutSamplesSayNothing)
	t.Run("names end with what they name", namesEndWithWhatTheyName)
	t.Run("a type that changed its hardware is followed", aTypeThatChangedItsHardwareIsFollowed)
	t.Run("a node with another CPU is another node", aNodeWithAnotherCPUIsAnotherNode)
}

func hoursWithoutSamplesSayNothing(t *testing.T) {
	e := New()
	for at := range int64(24) {
		e.Add(hour(at, []float64{1, 1}, []float64{1, 1}))
	}
	want := e.Clone()
	for at := int64(24); at < 72; at++ { // Its pods are known, but nothing was measured of them.
		h := hour(at, []float64{0, 0}, []float64{0, 0})
		for i := range h.Replicas {
			h.Replicas[i].Whole = false
		}
		e.Add(h)
	}
	if got := only(t, e); !reflect.DeepEqual(got, only(t, want)) || e.Workloads[1].Last != want.Workloads[1].Last {
		t.Errorf("%+v, was %+v", e.Workloads[1], want.Workloads[1])
	}
}

// three returns an hour of a workload on n2d, n4 and, if it runs there, c3.
func three(at int64, c3 bool) Hour {
	h := hour(at, []float64{1, 1}, []float64{1, 1})
	for i := range 2 {
		if c3 {
			h.Replicas = append(h.Replicas, Replica{Node: KeyOf(fmt.Sprint("c3 ", i)), NodeType: "c3", Zone: "a", CPU: 1, Busy: math.NaN(), Whole: true})
		}
	}
	return h
}

func pairsEndThatAreNoLongerSeen(t *testing.T) {
	e := New()
	for at := int64(0); at <= forgotten+1; at += 12 {
		e.Add(three(at, at == 0))
		e.Forget(began + at)
		if at == forgotten && len(e.Workloads[1].Cells) != 3 {
			t.Errorf("after %d hours: %+v", at, e.Workloads[1].Cells)
		}
	}
	e.Add(three(forgotten+1, false))
	e.Forget(began + forgotten + 1)
	if c := only(t, e); e.Types[c.A] != "n2d" && e.Types[c.B] != "n2d" || e.Types[c.A] == "c3" || e.Types[c.B] == "c3" {
		t.Errorf("%v: %+v", e.Types, c)
	}
}

func namesEndWithWhatTheyName(t *testing.T) {
	e := New()
	for at := int64(0); at <= forgotten+1; at++ {
		h := three(at, at == 0)
		if at > 0 { // n2d was the first type: all numbers change.
			for i := range h.Replicas {
				h.Replicas[i].NodeType = map[string]string{"n2d": "n4", "n4": "e2"}[h.Replicas[i].NodeType]
				h.Replicas[i].CPU = map[string]float64{"n4": 2, "e2": 4}[h.Replicas[i].NodeType]
			}
		}
		e.Add(h)
	}
	e.Forget(began + forgotten + 1)
	c := only(t, e)
	if len(e.Types) != 2 || len(e.Slowdown) != 2 {
		t.Fatalf("%v", e.Types)
	}
	if e.Types[c.A] != "n4" || e.Types[c.B] != "e2" || !near(c.Like.Mean, math.Log(2)) {
		t.Errorf("%v: %+v", e.Types, c)
	}
	for _, n := range e.Nodes {
		if name := e.Types[n.Type]; name != "n4" && name != "e2" {
			t.Errorf("a node has type %s", name)
		}
	}
}

// added adds hours in which n4 is faster by a factor, on nodes with a CPU model.
func added(e *Evidence, from, to int64, faster float64, model string) {
	for at := from; at < to; at++ {
		h := hour(at, []float64{1, 1, 1}, []float64{1 / faster, 1 / faster, 1 / faster})
		for i := range h.Replicas {
			if r := &h.Replicas[i]; r.NodeType == "n4" {
				r.CPUModel, r.Node = model, KeyOf(fmt.Sprint(model, i))
			} else {
				r.CPUModel = "milan"
			}
		}
		e.Add(h)
		e.Forget(h.At)
	}
}

func aTypeThatChangedItsHardwareIsFollowed(t *testing.T) {
	e := New()
	added(e, 0, 20*24, 1.2, "cascade lake")
	added(e, 20*24, 30*24, 1.5, "emerald rapids")
	if got := math.Exp(-only(t, e).Like.Mean); math.Abs(got-1.5) > 0.05 {
		t.Errorf("10 days after its hardware changed, n4 is %.2f times as fast", got)
	}
	weight := only(t, e).Like.N
	added(e, 30*24, 31*24, 1.5, "emerald rapids")
	if only(t, e).Like.N < weight {
		t.Error("it is forgotten again")
	}
	// Nodes of both kinds that come and go are no other hardware.
	e = New()
	for day := range int64(20) {
		added(e, day*24, day*24+24, 1.2, []string{"cascade lake", "emerald rapids"}[day%2])
	}
	if n := only(t, e).Hours(); n < 150 {
		t.Errorf("only %.0f hours are left", n)
	}
}

func aNodeWithAnotherCPUIsAnotherNode(t *testing.T) {
	e := New()
	for at := range int64(3) {
		h := hour(at, []float64{1, 1.2}, []float64{1, 1})
		h.Replicas[0].CPUModel = []string{"milan", "", "genoa"}[at]
		e.Add(h)
		n := e.Nodes[KeyOf("0 0")]
		if weight := n.Halves[1].Weight; at == 1 && (n.Model < 0 || weight < n.Halves[1].Sum) || at == 2 && (e.Models[n.Model] != "genoa" || n.Compared > weight+1e-9) {
			t.Errorf("in hour %d: %+v", at, n)
		}
	}
	both := e.Nodes[KeyOf("0 1")].Compared
	if n := e.Nodes[KeyOf("0 0")]; n.Compared > both/2 {
		t.Errorf("what was known of the node before still counts: %+v", n)
	}
}
