package histogram

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestState(t *testing.T) {
	h := of(0.001, 1, 1, 2, 900)
	t.Run("is all that a histogram has", func(t *testing.T) {
		again, err := FromState(cpu, h.State())
		if err != nil || again.total != h.total || again.reference != h.reference || again.present != h.present || !slices.Equal(again.weights, h.weights) {
			t.Errorf("%+v, want %+v, %v", again, h, err)
		}
	})
	t.Run("of an empty histogram is empty", func(t *testing.T) {
		light := of(1, 1)
		light.scale(0x1p-1050)
		for _, h := range []*Histogram{of(), light} {
			s := h.State()
			again, err := FromState(cpu, s)
			if len(s.Weights) > 0 || s.Reference != 0 || err != nil || !again.Empty() {
				t.Errorf("%+v: %+v, %v", s, again, err)
			}
		}
	})
	for _, total := range []float64{1, 1e12} {
		t.Run(fmt.Sprintf("can be used even if the total is %v instead of 2", total), func(t *testing.T) {
			h := of(1, 2)
			h.total = total
			again, err := FromState(cpu, h.State())
			if err != nil || again.total != 2 || len(again.weights) != 2 {
				t.Errorf("%+v, %v", again, err)
			}
		})
	}
	t.Run("keeps a total that differs because of rounding", func(t *testing.T) {
		for _, test := range []struct{ sum, total float64 }{{most, 1}, {1.0005, 1}, {1, 1.0005}, {1, most}} {
			h := of(1)
			h.weights[0], h.total = test.sum, test.total
			if again, err := FromState(cpu, h.State()); err != nil || again.total != test.total {
				t.Errorf("%v of %+v, %v", again.total, test, err)
			}
		}
	})
	t.Run("may have all buckets, and weights of 0", func(t *testing.T) {
		all := State{Reference: 1, Total: count, Present: [3]uint64{math.MaxUint64, math.MaxUint64, 1<<48 - 1}, Weights: slices.Repeat([]float64{1}, count)}
		all.Weights[5] = 0
		if h, err := FromState(cpu, all); err != nil || len(h.weights) != count {
			t.Errorf("%d buckets, %v", len(h.weights), err)
		}
	})
	for name, change := range map[string]func(s *State){
		"no time":                                       func(s *State) { s.Reference = 0 },
		"a total of 0":                                  func(s *State) { s.Total = 0 },
		"a negative total":                              func(s *State) { s.Total = -1 },
		"an infinite total":                             func(s *State) { s.Total = math.Inf(1) },
		"a total that is not a number":                  func(s *State) { s.Total = math.NaN() },
		"a weight above the total":                      func(s *State) { s.Weights[0] = s.Total * 1.0011 },
		"a negative weight":                             func(s *State) { s.Weights[0] = -1 },
		"a weight that is not a number":                 func(s *State) { s.Weights[0] = math.NaN() },
		"a bucket that does not exist":                  func(s *State) { s.Present[2] ^= 1 << 48; s.Weights = append(s.Weights, 1) },
		"a bucket far beyond the last":                  func(s *State) { s.Present[2] ^= 1 << 63; s.Weights = append(s.Weights, 1) },
		"more buckets than weights":                     func(s *State) { s.Present[1] |= 1 << 60 },
		"more weights than buckets":                     func(s *State) { s.Weights = append(s.Weights, 1) },
		"a bucket that does not exist, without weights": func(s *State) { *s = State{Present: [3]uint64{0, 0, 1 << 48}} },
	} {
		t.Run("is rejected with "+name, func(t *testing.T) {
			s := h.State()
			s.Weights = slices.Clone(s.Weights)
			change(&s)
			if h, err := FromState(cpu, s); err == nil || !h.Empty() {
				t.Errorf("%+v, %v", h, err)
			}
		})
	}
}
