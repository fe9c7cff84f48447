package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
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

func TestMeanAbove(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	of := func(values ...float64) *Histogram {
		h := New(&Shape{Buckets: CPU, HalfLife: 24 * time.Hour})
		for _, v := range values {
			h.Add(v, 1, at)
		}
		return &h
	}
	for _, test := range []struct {
		name  string
		p     float64
		parts []Part
		want  float64
	}{
		{"nothing", 0.75, nil, 0},
		{"empty histograms", 0.75, []Part{{of(), 2}}, 0},
		{"one value", 0.75, []Part{{of(1), 1}}, 1},
		{"the highest quarter", 0.75, []Part{{of(1, 1, 1, 1, 1, 1, 2, 6), 1}}, 4},
		{"a part of a bucket", 0.75, []Part{{of(1, 1, 1, 1, 1, 1, 1, 7), 1}}, 4},
		{"bursts that a percentile does not show", 0.75, []Part{{of(0, 0, 0, 0, 0, 0, 0, 0, 4, 4), 1}}, 3.2},
		{"all", 0, []Part{{of(1, 3), 1}}, 2},
		{"the highest value", 1, []Part{{of(1, 3), 1}}, 3},
		{"factors", 0.5, []Part{{of(1, 3), 2}, {of(4, 8), 1}}, 7},
	} {
		// A value counts as the upper edge of its bucket.
		if got := MeanAbove(test.p, test.parts...); got < test.want-1e-9 || got > 1.06*test.want+0.011 {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	t.Run("is at least the percentile of averages over any groups", func(t *testing.T) {
		for seed := range uint64(50) {
			random := rand.New(rand.NewPCG(seed, 1))
			size, groups := 1+random.IntN(12), 40+random.IntN(200)
			all, means := of(), make([]float64, groups)
			for i := range means {
				level := random.ExpFloat64()
				for range size {
					x := level * math.Pow(random.Float64(), 4)
					all.Add(x, 1, at)
					means[i] += x / float64(size)
				}
			}
			slices.Sort(means)
			for _, p := range []float64{0.1, 0.5, 0.75, 0.9, 1} {
				percentile := means[max(0, int(math.Ceil(p*float64(groups)))-1)]
				if got := MeanAbove(p, Part{all, 1}); got < percentile {
					t.Errorf("seed %d: %v, but the percentile %v of averages is %v", seed, got, p, percentile)
				}
			}
		}
	})
}
