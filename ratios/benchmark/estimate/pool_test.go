package estimate

import (
	"math"
	"testing"
)

// The weights of the machines are 1, 1/2 and 1/4, and b was not measured with one thread.
func TestMeans(t *testing.T) {
	s := newScores([]score{
		{value: 100, machine: "a", single: 200, load: 0.1, recency: 1},
		{value: 200, machine: "b", load: 0.4, recency: 0.5},
		{value: 400, machine: "c", single: 800, load: 0.2, recency: 0.25},
	})
	all, single := s.means()
	if want := (math.Log(100) + math.Log(200)/2 + math.Log(400)/4) / 1.75; !near(all, want, 1e-9) {
		t.Errorf("all %v, want %v", all, want)
	}
	if want := (math.Log(200) + math.Log(800)/4) / 1.25; !near(single, want, 1e-9) {
		t.Errorf("single %v, want %v", single, want)
	}
	if load := s.load(); !near(load, 0.2, 1e-9) {
		t.Errorf("load %v", load)
	}
}

func TestGains(t *testing.T) {
	of := func(vcpus int, all, single float64) *series {
		return &series{test: test{vcpus: vcpus}, all: all, single: single}
	}
	got := gains([]*series{of(8, 1, 1.5), of(8, 1, 2), of(8, 1, math.NaN()), of(2, 1, 1.25)})
	if len(got) != 2 || !near(got[8], 0.75, 1e-9) || !near(got[2], 0.25, 1e-9) {
		t.Errorf("%v", got)
	}
}
