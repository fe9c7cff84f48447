package checkpoint

import (
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

var (
	cpu = &histogram.Shape{Buckets: histogram.CPU, HalfLife: 24 * time.Hour}
	// midnight is a reference time.
	midnight = began.Truncate(24 * time.Hour)
)

// of returns a histogram of values with a weight of 1.
func of(values ...float64) *histogram.Histogram {
	h := histogram.New(cpu)
	for _, value := range values {
		h.Add(value, 1, midnight)
	}
	return &h
}

// read returns a histogram that was stored and read.
func read(t *testing.T, h *histogram.Histogram) histogram.State {
	t.Helper()
	again, err := unpackHistogram(packHistogram(h, cpu.HalfLife), cpu)
	if err != nil {
		t.Fatal(err)
	}
	return again.State()
}

func TestHistogram(t *testing.T) {
	h := of(0.001, 1, 1, 2, 900)
	h.Add(50, 1, midnight.Add(-40*24*time.Hour))
	t.Run("keeps the distribution", func(t *testing.T) {
		again, err := unpackHistogram(packHistogram(h, cpu.HalfLife), cpu)
		if err != nil || math.Abs(again.State().Total/h.State().Total-1) > 1e-6 || again.State().Reference != h.State().Reference {
			t.Fatalf("%+v, %v", again, err)
		}
		for p := 0.05; p < 1; p += 0.1 {
			if got, want := again.Percentile(p), h.Percentile(p); got != want {
				t.Errorf("percentile %v is %v, want %v", p, got, want)
			}
		}
	})
	t.Run("keeps a reference time that was moved", func(t *testing.T) {
		moved := of(1)
		moved.Move(time.Hour + 1)
		if got := read(t, moved).Reference; got != moved.State().Reference {
			t.Errorf("%v, want %v", got, moved.State().Reference)
		}
	})
	t.Run("keeps weights of one unit, and the power of two of lighter ones", func(t *testing.T) {
		s := histogram.State{Reference: 1, Total: 1, Present: [3]uint64{0b11011, 1, 1 << 47}}
		s.Weights = []float64{1 - 0x1p-20 - 0x1p-21 - 0x1p-24 - 0x1p-33 - 0x1p-30, 0x1p-20, 0x1p-21, 0x1p-24, 0x1p-33, 0x1p-30}
		light, err := histogram.FromState(cpu, s)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, &light); !slices.Equal(got.Weights[1:], s.Weights[1:]) || got.Present != s.Present {
			t.Errorf("%+v, want %+v", got, s)
		}
	})
	t.Run("leaves out what only decides ties", func(t *testing.T) {
		if got := len(read(t, h).Weights); got != len(h.State().Weights)-1 {
			t.Errorf("%d buckets of %d", got, len(h.State().Weights))
		}
	})
	t.Run("leaves out a bucket of the share that is left out", func(t *testing.T) {
		h := histogram.New(cpu)
		h.Add(1, 1-indistinct, midnight)
		h.Add(9, indistinct, midnight)
		if total := h.State().Total; total != 1 {
			t.Fatalf("the total is %v", total)
		}
		if got := read(t, &h); len(got.Weights) != 1 || got.Present[0] == 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("takes less than 4 bytes a bucket", func(t *testing.T) {
		h := histogram.New(cpu)
		for i := range 1000 {
			h.Add(float64(i)/100, 1, midnight)
		}
		if size := proto.Size(packHistogram(&h, cpu.HalfLife)); size > 4*len(h.State().Weights) {
			t.Errorf("%d bytes for %d buckets", size, len(h.State().Weights))
		}
	})
	t.Run("does not change when it is written again", func(t *testing.T) {
		h := histogram.New(cpu)
		for i := range 40 {
			h.Add(0.01*math.Pow(1.3, float64(i)), math.Pow(0.55, float64(i)), midnight)
		}
		m := packHistogram(&h, cpu.HalfLife)
		again, err := unpackHistogram(m, cpu)
		if err != nil || !proto.Equal(packHistogram(&again, cpu.HalfLife), m) {
			t.Errorf("%v: %v, want %v", err, packHistogram(&again, cpu.HalfLife), m)
		}
	})
	t.Run("keeps the sum of many small weights", func(t *testing.T) {
		h := histogram.New(cpu)
		for i := range 100 {
			h.Add(float64(i), 1.4, midnight)
		}
		h.Add(900, units-140, midnight) // Alone, each of the others would lose 0.4 units.
		again, original := read(t, &h), h.State()
		sum, want := 0.0, 0.0
		for i := range again.Weights {
			sum, want = sum+again.Weights[i], want+original.Weights[i]
			if math.Abs(sum-want) > 0.5001 {
				t.Errorf("the sum of %d buckets is %v, want %v", i+1, sum, want)
			}
		}
	})
	t.Run("has no message if it is empty", func(t *testing.T) {
		if m := packHistogram(of(), cpu.HalfLife); m != nil {
			t.Errorf("%v", m)
		}
		if got := read(t, of()); len(got.Weights) != 0 || got.Reference != 0 {
			t.Errorf("%+v", got)
		}
	})
	for name, change := range map[string]func(m *storedv2.Histogram){
		"no time":                        func(m *storedv2.Histogram) { m.ReferenceHalfLives, m.ReferenceNanos = 0, 0 },
		"a total of 0":                   func(m *storedv2.Histogram) { m.Total = 0 },
		"a negative total":               func(m *storedv2.Histogram) { m.Total |= 1 << 31 },
		"a total that is not a number":   func(m *storedv2.Histogram) { m.Total = math.MaxUint32 },
		"a weight above the total":       func(m *storedv2.Histogram) { m.Weights[0] = units * 11 / 10 },
		"a weight far above the total":   func(m *storedv2.Histogram) { m.Weights[0] = math.MaxUint32 },
		"a bucket that does not exist":   func(m *storedv2.Histogram) { m.Buckets[0] = 180 },
		"a bucket far beyond the last":   func(m *storedv2.Histogram) { m.Buckets[0] = math.MaxUint32 },
		"more buckets than there are":    func(m *storedv2.Histogram) { m.Buckets[1] = math.MaxUint32 },
		"more buckets than weights":      func(m *storedv2.Histogram) { m.Buckets[1]++ },
		"more weights than buckets":      func(m *storedv2.Histogram) { m.Weights = append(m.Weights, 100) },
		"a range beyond the last bucket": func(m *storedv2.Histogram) { m.Buckets = append(m.Buckets, 0, 100) },
	} {
		t.Run("is rejected with "+name, func(t *testing.T) {
			m := packHistogram(h, cpu.HalfLife)
			change(m)
			if h, err := unpackHistogram(m, cpu); err == nil || !h.Empty() {
				t.Errorf("%+v, %v", h, err)
			}
		})
	}
}
