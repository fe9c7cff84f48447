package evidence

import (
	"fmt"
	"math"
	"testing"
)

// inZones adds an hour in two zones. In zone b, n4 is faster by a factor.
func inZones(e *Evidence, at int64, faster float64) {
	h := hour(at, []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1})
	for i := range h.Replicas {
		r := &h.Replicas[i]
		if i%4 >= 2 {
			r.Zone = "b"
			if r.NodeType == "n4" {
				r.CPU /= faster
			}
		}
	}
	e.Add(h)
}

func TestPlaces(t *testing.T) {
	e := New()
	for at := range int64(24) {
		inZones(e, at, 1.2)
	}
	if len(e.Places) != 2 {
		t.Fatalf("%+v", e.Places)
	}
	if a, b := e.Places[0].Halves[1].Mean(), e.Places[1].Halves[1].Mean(); !near(a-b, math.Log(1.2)) {
		t.Errorf("the zones differ by %v, want %v", a-b, math.Log(1.2))
	}
	weight := e.Places[0].Halves[1].Weight
	if inZones(e, HalfLife+23, 1.2); e.Places[0].Halves[1].Weight > 0.6*weight {
		t.Errorf("weight %.1f after a half-life, and %.1f before", e.Places[0].Halves[1].Weight, weight)
	}
}

// TestPlacesOfLargeWorkloads checks that a real difference is not cut off because a workload has many replicas that show it.
func TestPlacesOfLargeWorkloads(t *testing.T) {
	for _, count := range []int{2, 50} {
		e := New()
		for at := range int64(24) {
			h := Hour{Workload: 1, At: began + at}
			for i := range 4 * count {
				r := Replica{Node: Key(i % 20), NodeType: [2]string{"n2d", "n4"}[i%2], Zone: [2]string{"a", "b"}[i/2%2], CPU: 1 + 0.2*float64(i/4%2), Request: 1, Busy: math.NaN(), Whole: true}
				if r.NodeType == "n4" && r.Zone == "b" {
					r.CPU /= 1.2
				}
				h.Replicas = append(h.Replicas, r)
			}
			e.Add(h)
		}
		if d := math.Abs(e.Places[0].Halves[1].Mean() - e.Places[1].Halves[1].Mean()); math.Abs(d-math.Log(1.2)) > 1e-6 {
			t.Errorf("%d replicas: the zones differ by %.3f, want %.3f", count, d, math.Log(1.2))
		}
	}
}

func TestPlacesOfHalves(t *testing.T) {
	e := New()
	for at := range int64(48) {
		inZones(e, at, 1)
	}
	for key, faster := range map[Key]float64{2: 1, 3: 1000} { // Others are like workload 1, for an hour.
		h := hour(100, []float64{1, 1, 1, 1}, []float64{1, 1, 1 / faster, 1 / faster})
		h.Workload = key
		for i := range h.Replicas {
			h.Replicas[i].Zone = [2]string{"a", "b"}[i%4/2]
		}
		e.Add(h)
	}
	for i, p := range e.Places {
		even, odd := p.Halves[0], p.Halves[1]
		if even.Mean() != 0 || even.Weight == 0 {
			t.Errorf("%d: the half without a difference has one: %+v", i, even)
		}
		if odd.Mean() == 0 || math.Abs(odd.Mean()) > 0.02 {
			t.Errorf("%d: an hour of one workload decides: %.2f", i, odd.Mean())
		}
	}
}

func TestPlacesAreBounded(t *testing.T) {
	e := New()
	for i := range int64(2 * MostPlaces) {
		h := hour(i, []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1})
		for j := range h.Replicas {
			r := &h.Replicas[j]
			r.Zone, r.NodeType = fmt.Sprint(i%100, j%4/2), fmt.Sprint("t", i/100%20, j/4)
		}
		h.Workload = Key(i)
		e.Add(h)
	}
	if len(e.Places) != MostPlaces {
		t.Errorf("%d places", len(e.Places))
	}
}
