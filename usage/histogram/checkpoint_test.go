package histogram

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
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

func TestBinary(t *testing.T) {
	h := of(0.001, 1, 1, 2, 900)
	h.Add(50, 1, began.Add(-40*day))
	form := h.AppendBinary([]byte("x"))
	t.Run("keeps the distribution", func(t *testing.T) {
		again, rest, err := FromBinary(cpu, append(form[1:], "rest"...))
		if err != nil || string(rest) != "rest" || math.Abs(again.total/h.total-1) > 1e-6 || again.reference != h.reference {
			t.Fatalf("%+v, %q, %v", again, rest, err)
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
		if again, _, err := FromBinary(cpu, moved.AppendBinary(nil)); err != nil || again.reference != moved.reference {
			t.Errorf("%v, want %v, %v", again.reference, moved.reference, err)
		}
	})
	t.Run("keeps weights of one unit, and the power of two of lighter ones", func(t *testing.T) {
		h := of(1, 2, 3, 4)
		h.weights = []float64{1 - 0x1p-20 - 0x1p-24 - 0x1p-30, 0x1p-20, 0x1p-24, 0x1p-30}
		h.total = 1
		again, _, err := FromBinary(cpu, h.AppendBinary(nil))
		if err != nil || !slices.Equal(again.weights[1:], h.weights[1:]) {
			t.Errorf("%v, want %v, %v", again.weights, h.weights, err)
		}
	})
	t.Run("leaves out what only decides ties", func(t *testing.T) {
		again, _, err := FromBinary(cpu, form[1:])
		if err != nil || len(again.weights) != len(h.weights)-1 {
			t.Errorf("%d buckets of %d, %v", len(again.weights), len(h.weights), err)
		}
	})
	t.Run("leaves out a bucket of the share that is left out", func(t *testing.T) {
		h := New(cpu)
		h.Add(1, 1-indistinct, began)
		h.Add(9, indistinct, began)
		if h.total != 1 {
			t.Fatalf("the total is %v", h.total)
		}
		again, rest, err := FromBinary(cpu, h.AppendBinary(nil))
		if err != nil || len(rest) != 0 || len(again.weights) != 1 || again.Percentile(1) > 2 {
			t.Errorf("%d buckets, and %d bytes, %v", len(again.weights), len(rest), err)
		}
	})
	t.Run("takes less than 4 bytes a bucket", func(t *testing.T) {
		h := New(cpu)
		for i := range 1000 {
			h.Add(float64(i)/100, 1, began)
		}
		if form := h.AppendBinary(nil); len(form) > 4*len(h.weights) {
			t.Errorf("%d bytes for %d buckets", len(form), len(h.weights))
		}
	})
	t.Run("does not change when it is written again", func(t *testing.T) {
		h := New(cpu)
		for i := range 40 {
			h.Add(0.01*math.Pow(1.3, float64(i)), math.Pow(0.55, float64(i)), began)
		}
		form := h.AppendBinary(nil)
		again, _, err := FromBinary(cpu, form)
		if err != nil || !bytes.Equal(again.AppendBinary(nil), form) {
			t.Errorf("%v: %x, want %x", err, again.AppendBinary(nil), form)
		}
	})
	t.Run("keeps the sum of many small weights", func(t *testing.T) {
		h := New(cpu)
		for i := range 100 {
			h.Add(float64(i), 1.4, began)
		}
		h.Add(900, units-140, began) // Alone, each of the others would lose 0.4 units.
		again, _, err := FromBinary(cpu, h.AppendBinary(nil))
		sum, want := 0.0, 0.0
		for i := range again.weights {
			sum, want = sum+again.weights[i], want+h.weights[i]
			if math.Abs(sum-want) > 0.5001 {
				t.Errorf("the sum of %d buckets is %v, want %v, %v", i+1, sum, want, err)
			}
		}
	})
	for _, total := range []float64{1, 1e12} {
		t.Run(fmt.Sprintf("can be read even if the total is %v instead of 2", total), func(t *testing.T) {
			h := of(1, 2)
			h.total = total
			again, _, err := FromBinary(cpu, h.AppendBinary(nil))
			if err != nil || again.total != 2 || len(again.weights) != 2 {
				t.Errorf("%+v, %v", again, err)
			}
		})
	}
	t.Run("of an empty histogram is one byte", func(t *testing.T) {
		form := of().AppendBinary(nil)
		again, rest, err := FromBinary(cpu, form)
		if len(form) != 1 || err != nil || len(rest) != 0 || !again.Empty() {
			t.Errorf("%x: %+v, %v", form, again, err)
		}
	})
	t.Run("keeps a total that differs because of rounding", func(t *testing.T) {
		for _, test := range []struct{ sum, total float64 }{{most, 1}, {1.0005, 1}, {1, 1.0005}, {1, most}} {
			h := of(1)
			h.weights[0], h.total = test.sum, test.total
			if again, _, err := FromBinary(cpu, h.AppendBinary(nil)); err != nil || math.Abs(again.total/test.total-1) > 1e-6 {
				t.Errorf("%v of %+v, %v", again.total, test, err)
			}
		}
	})
	t.Run("of weights that no longer count is one byte", func(t *testing.T) {
		h := of(1, 1)
		h.scale(0x1p-1050)
		if form := h.AppendBinary(nil); len(h.weights) != 1 || !bytes.Equal(form, []byte{0}) {
			t.Errorf("%d buckets in %x", len(h.weights), form)
		}
	})
	// bytesOf returns a form: after the total, ranges and weights.
	bytesOf := func(kept uint64, reference int64, total float64, numbers ...uint64) []byte {
		b := binary.AppendVarint(binary.AppendVarint(binary.AppendUvarint(nil, kept), 0), reference)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(total)>>32)[:len(b)+4]
		for _, n := range numbers {
			b = binary.AppendUvarint(b, n)
		}
		return b
	}
	for name, form := range map[string][]byte{
		"no time":                            bytesOf(1, 0, 1, 5, 1, units),
		"a total of 0":                       bytesOf(1, 1, 0, 5, 1, units),
		"a negative total":                   bytesOf(1, 1, -1, 5, 1, units),
		"an infinite total":                  bytesOf(1, 1, math.Inf(1), 5, 1, units),
		"a total that is not a number":       bytesOf(1, 1, math.NaN(), 5, 1, units),
		"a weight above the total":           bytesOf(1, 1, 1, 5, 1, mostUnits+1),
		"a weight far above the total":       bytesOf(1, 1, 1, 5, 1, units/1000*1003),
		"a small weight that is not small":   bytesOf(1, 1, 1, 5, 1, 0, leastHalved-1),
		"a small weight that is too small":   bytesOf(1, 1, 1, 5, 1, 0, mostHalved+1),
		"a bucket that does not exist":       bytesOf(1, 1, 1, count, 1, units),
		"a range beyond the last bucket":     bytesOf(2, 1, 1, count-1, 2, units/2, units/2),
		"a bucket far beyond the last one":   bytesOf(1, 1, 1, math.MaxUint64, 1, units),
		"a range that is empty":              bytesOf(1, 1, 1, 5, 0, 1, 1, units),
		"a range with too many buckets":      bytesOf(1, 1, 1, 5, 2, units/2, units/2),
		"more buckets than there are":        bytesOf(count+1, 1, 1, 0, count+1),
		"a number of buckets beyond 64 bits": bytes.Repeat([]byte{255}, 11),
		"a time beyond 64 bits":              append([]byte{1}, bytes.Repeat([]byte{255}, 30)...),
	} {
		t.Run("is rejected with "+name, func(t *testing.T) {
			if h, _, err := FromBinary(cpu, form); err == nil || !h.Empty() {
				t.Errorf("%+v, %v", h, err)
			}
		})
	}
	t.Run("can have all buckets, and rounded weights", func(t *testing.T) {
		all := slices.Concat([]uint64{0, count}, slices.Repeat([]uint64{units / count}, count))
		if h, _, err := FromBinary(cpu, bytesOf(count, 1, 1, all...)); err != nil || len(h.weights) != count {
			t.Errorf("%d buckets, %v", len(h.weights), err)
		}
		for _, weight := range [][]uint64{{mostUnits}, {0, leastHalved}, {0, mostHalved}} {
			if h, _, err := FromBinary(cpu, bytesOf(1, 1, 1, append([]uint64{0, 1}, weight...)...)); err != nil || len(h.weights) != 1 {
				t.Errorf("%v: %v", weight, err)
			}
		}
	})
	t.Run("is rejected if it is cut", func(t *testing.T) {
		for n := range len(form) - 1 {
			if h, _, err := FromBinary(cpu, form[1:1+n]); err == nil || !h.Empty() {
				t.Errorf("%d of %d bytes are accepted", n, len(form)-1)
			}
		}
	})
}

// FuzzFromBinary checks that any bytes are rejected or form a histogram that can be used.
func FuzzFromBinary(f *testing.F) {
	f.Add(of(1, 2, 3).AppendBinary(nil))
	f.Add([]byte{0})
	f.Add([]byte{200, 2})
	f.Fuzz(func(t *testing.T, form []byte) {
		h, rest, err := FromBinary(cpu, form)
		if err != nil {
			return
		}
		if p := h.Percentile(0.9); math.IsNaN(p) || p < 0 || p > CPU.upper(count) {
			t.Errorf("percentile %v", p)
		}
		again, _, err := FromBinary(cpu, h.AppendBinary(nil))
		if err != nil || again.Percentile(0.5) != h.Percentile(0.5) && len(again.weights) == len(h.weights) {
			t.Errorf("read again: %v", err)
		}
		if len(rest) > len(form) || bytes.Equal(rest, form) {
			t.Error("no progress")
		}
	})
}
