package histogram

import (
	"encoding/json"
	"testing"
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
}
