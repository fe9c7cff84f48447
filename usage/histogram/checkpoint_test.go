package histogram

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestCheckpoint(t *testing.T) {
	h := of(1, 1, 1, 2)
	h.Add(4, 0.00001, began)
	t.Run("leaves out what is outside of the range of values, even next to light buckets", func(t *testing.T) {
		light := New(cpu)
		light.Add(1, epsilon*1.1, began)
		light.Add(2, epsilon*1.1, began)
		light.Add(0.1, epsilon*0.9, began)
		light.Add(9, epsilon*0.9, began)
		if got := light.Checkpoint().Weights; len(got) != 2 || got[36] != 10000 {
			t.Errorf("weights %v", got)
		}
		within := of(1, 4)
		within.Add(2, 0.00001, began)
		if got := within.Checkpoint().Weights; len(got) != 2 {
			t.Errorf("weights %v", got)
		}
	})
	t.Run("is the VPA's JSON", func(t *testing.T) {
		text, err := json.Marshal(h.Checkpoint())
		if want := `{"referenceTimestamp":"2026-03-01T00:00:00Z","bucketWeights":{"36":10000,"49":3333},"totalWeight":4.00001}`; err != nil || string(text) != want {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
		if text, err = json.Marshal(of().Checkpoint()); err != nil || string(text) != `{"referenceTimestamp":null}` {
			t.Errorf("%s, %v", text, err)
		}
	})
	t.Run("can be read", func(t *testing.T) {
		again, err := FromCheckpoint(cpu, h.Checkpoint())
		if err != nil || math.Abs(again.total/h.total-1) > 1e-6 || again.reference != h.reference || math.Abs(again.weights[0]-3) > 0.001 {
			t.Errorf("%+v, %v", again, err)
		}
		if empty, err := FromCheckpoint(cpu, of().Checkpoint()); err != nil || !empty.Empty() {
			t.Errorf("%+v, %v", empty, err)
		}
	})
	zero := time.Unix(1, 0)
	for name, c := range map[string]Checkpoint{
		"a total that is not a number": {Reference: &zero, Total: math.NaN(), Weights: map[int]uint32{1: 1}},
		"an infinite total":            {Reference: &zero, Total: math.Inf(1), Weights: map[int]uint32{1: 1}},
		"a negative total":             {Reference: &zero, Total: -1, Weights: map[int]uint32{1: 1}},
		"a negative bucket":            {Reference: &zero, Total: 1, Weights: map[int]uint32{-1: 1}},
		"a bucket too many":            {Reference: &zero, Total: 1, Weights: map[int]uint32{count: 1}},
		"weights without a time":       {Total: 1, Weights: map[int]uint32{1: 1}},
	} {
		t.Run("is rejected with "+name, func(t *testing.T) {
			if h, err := FromCheckpoint(cpu, c); err == nil || !h.Empty() {
				t.Errorf("%+v, %v", h, err)
			}
		})
	}
	t.Run("accepts the first and the last bucket", func(t *testing.T) {
		h, err := FromCheckpoint(cpu, Checkpoint{Reference: &zero, Total: 2, Weights: map[int]uint32{0: 1, count - 1: 1}})
		if err != nil || len(h.weights) != 2 {
			t.Errorf("%+v, %v", h, err)
		}
	})
}
