package histogram

import (
	"math"
	"testing"
	"time"
)

func TestMean(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	of := func(values ...float64) *Histogram {
		h := New(&Shape{Buckets: CPU, HalfLife: 24 * time.Hour})
		for _, v := range values {
			h.Add(v, 1, at)
		}
		return &h
	}
	old := New(&Shape{Buckets: CPU, HalfLife: 24 * time.Hour})
	old.Add(4, 1, at.Add(-24*time.Hour))
	for _, test := range []struct {
		name  string
		parts []Part
		want  float64
	}{
		{"nothing", nil, 0},
		{"empty histograms", []Part{{of(), 2}}, 0},
		{"one value", []Part{{of(1), 1}}, 1},
		{"several", []Part{{of(1, 2, 3, 6), 1}}, 3},
		{"factors", []Part{{of(1, 3), 2}, {of(2), 1}}, 10.0 / 3},
		{"an older value counts half after a half-life", []Part{{of(1), 1}, {&old, 1}}, 2},
	} {
		// A value is in the middle of its bucket up to half of the bucket's width.
		if got := Mean(test.parts...); math.Abs(got-test.want) > 0.026*test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
