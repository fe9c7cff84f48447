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
	if a, b := e.Places[0].Mean(), e.Places[1].Mean(); !near(a-b, math.Log(1.2)) {
		t.Errorf("the zones differ by %v, want %v", a-b, math.Log(1.2))
	}
	weight := e.Places[0].Weight
	if inZones(e, HalfLife+23, 1.2); e.Places[0].Weight > 0.6*weight {
		t.Errorf("weight %.1f after a half-life, and %.1f before", e.Places[0].Weight, weight)
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
