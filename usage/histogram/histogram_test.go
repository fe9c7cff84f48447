package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"
)

var (
	day   = 24 * time.Hour
	began = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	cpu   = &Shape{Buckets: CPU, HalfLife: day}
)

// of returns a histogram of values with a weight of 1 at the reference time.
func of(values ...float64) *Histogram {
	h := New(cpu)
	for _, value := range values {
		h.Add(value, 1, began)
	}
	return &h
}

func TestBuckets(t *testing.T) {
	for _, test := range []struct {
		buckets *Buckets
		value   float64
		bucket  int
		upper   float64
	}{
		{CPU, 0, 0, 0.01},
		{CPU, 0.0099, 0, 0.01},
		{CPU, 0.01, 1, 0.0205},
		{CPU, 0.0204, 1, 0.0205},
		{CPU, 0.0206, 2, 0.031525},
		{CPU, 1, 36, 1.0162813859},
		{CPU, 1000, 174, 1021.1094089},
		{CPU, 1e9, 175, 1021.1094089},
		{Memory, 1e7 - 1, 0, 1e7},
		{Memory, 1e9, 36, 1.0162813859e9},
	} {
		if got := test.buckets.find(test.value); got != test.bucket {
			t.Errorf("the bucket of %v is %d, want %d", test.value, got, test.bucket)
		}
		if got := test.buckets.upper(test.bucket); math.Abs(got/test.upper-1) > 1e-6 {
			t.Errorf("the upper edge of bucket %d is %v, want %v", test.bucket, got, test.upper)
		}
	}
}

// naive is a distribution of samples with their times.
type naive []struct {
	value, weight float64
	at            time.Time
}

// percentile returns the percentile p, and whether another one is equal except for rounding.
func (n naive) percentile(p float64, now time.Time) (value float64, tie bool) {
	var weights [count]float64
	total := 0.0
	for _, s := range n {
		w := s.weight * math.Exp2(s.at.Sub(now).Hours()/24)
		weights[CPU.find(s.value)] += w
		total += w
	}
	sum := 0.0
	found := false
	for bucket, w := range weights {
		sum += w
		tie = tie || w > 0 && math.Abs(sum/total-p) < 1e-9
		if !found && sum >= p*total {
			value, found = CPU.upper(bucket), true
		}
	}
	return value, tie
}

func TestHistogram(t *testing.T) {
	t.Run("is empty without samples", func(t *testing.T) {
		if h := of(); !h.Empty() || h.Percentile(0.5) != 0 {
			t.Errorf("empty: %v, median %v", h.Empty(), h.Percentile(0.5))
		}
		if of(1).Empty() {
			t.Error("empty with a sample")
		}
	})
	t.Run("is empty with a weight below epsilon, and not with epsilon", func(t *testing.T) {
		light, just := New(cpu), New(cpu)
		light.Add(1, epsilon*0.999, began)
		just.Add(1, epsilon, began)
		if !light.Empty() || just.Empty() {
			t.Errorf("empty: %v and %v", light.Empty(), just.Empty())
		}
	})
	t.Run("ignores buckets below epsilon outside of the range of values", func(t *testing.T) {
		h := of(1)
		h.Add(0.1, epsilon/2, began)
		h.Add(100, epsilon/2, began)
		if low, high := h.Percentile(0), h.Percentile(1); low != CPU.upper(36) || high != CPU.upper(36) {
			t.Errorf("values from %v to %v, want only %v", low, high, CPU.upper(36))
		}
	})
	t.Run("has percentiles of decayed weights", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			h, all := New(cpu), naive{}
			at := began
			for range 200 {
				at = at.Add(time.Duration(random.ExpFloat64() * float64(6*time.Hour)))
				value := math.Exp(random.NormFloat64())
				h.Add(value, 0.1, at)
				all = append(all, naive{{value, 0.1, at}}...)
			}
			for _, p := range []float64{0.01, 0.5, 0.9, 0.95} {
				if want, tie := all.percentile(p, at); !tie && h.Percentile(p) != want {
					t.Fatalf("percentile %v is %v, want %v", p, h.Percentile(p), want)
				}
			}
		}
	})
	t.Run("gives a sample twice the weight of one that is a half-life older", func(t *testing.T) {
		h := New(cpu)
		h.Add(1, 2.01, began)
		h.Add(2, 1, began.Add(day))
		if h.Percentile(0.5) != of(1).Percentile(1) {
			t.Error("the older sample of twice the weight is lighter")
		}
		h.Add(2, 0.02, began.Add(day))
		if h.Percentile(0.5) != of(2).Percentile(1) {
			t.Error("the newer sample is lighter")
		}
	})
	t.Run("moves the reference time after 100 half-lives", func(t *testing.T) {
		h := of(1)
		h.Add(2, 1, began.Add(100*day))
		if h.reference != began.UnixNano() {
			t.Error("moved after exactly 100 half-lives")
		}
		h.Add(2, 1, began.Add(100*day+13*time.Hour))
		if want := began.Add(101 * day).UnixNano(); h.reference != want {
			t.Errorf("reference time %v, want %v", time.Unix(0, h.reference).UTC(), began.Add(101*day))
		}
		if h.total < 1 || h.total > 1.3 {
			t.Errorf("total %v, want that of two samples at half and at 0.7 of their weight", h.total)
		}
	})
	t.Run("forgets buckets whose weight becomes 0", func(t *testing.T) {
		h := of(1, 2, 3)
		h.Add(4, 1, began.Add(2000*day))
		if len(h.weights) != 1 || h.Percentile(0.1) != of(4).Percentile(1) {
			t.Errorf("%d buckets, want 1", len(h.weights))
		}
	})
	t.Run("subtracts what was added", func(t *testing.T) {
		h := of(1, 2, 2)
		h.Subtract(1, 1, began)
		if h.Percentile(0) != of(2).Percentile(1) || h.total != 2 || len(h.weights) != 1 {
			t.Errorf("from %v, total %v, %d buckets", h.Percentile(0), h.total, len(h.weights))
		}
		h.Subtract(2, 0.5, began)
		if h.total != 1.5 || h.weights[0] != 1.5 {
			t.Errorf("total %v, weights %v", h.total, h.weights)
		}
		later := of()
		later.Add(1, 1, began)
		later.Add(1, 1, began.Add(day))
		later.Subtract(1, 1, began.Add(day))
		if later.total != 1 || later.weights[0] != 1 {
			t.Errorf("total %v, weights %v", later.total, later.weights)
		}
		h.Subtract(0.5, 1, began) // not there
		if h.total != 0.5 || len(h.weights) != 1 {
			t.Errorf("total %v, weights %v", h.total, h.weights)
		}
	})
	t.Run("subtracts to 0 if less than epsilon remains, and keeps epsilon", func(t *testing.T) {
		if got := subtract(1, 1-epsilon/2); got != 0 {
			t.Errorf("half of epsilon remains as %v", got)
		}
		if got := subtract(2*epsilon, epsilon); got != epsilon {
			t.Errorf("epsilon remains as %v", got)
		}
	})
	t.Run("keeps relative weights when the half-life changes", func(t *testing.T) {
		h := New(cpu)
		h.Add(1, 1, began)
		h.Add(2, 1, began.Add(day))
		now := began.Add(30 * day)
		before := h.weights[1] / h.weights[0]
		slow := &Shape{Buckets: CPU, HalfLife: 7 * day}
		h.Follow(slow, now)
		if got := h.weights[1] / h.weights[0]; math.Abs(got/before-1) > 1e-12 || h.shape != slow {
			t.Errorf("relative weight %v, want %v", got, before)
		}
		all := h.total
		h.Add(3, 1, now)
		if share := (h.total - all) / h.total; math.Abs(share-1/(1+math.Exp2(-30)+math.Exp2(-29))) > 1e-9 {
			t.Errorf("a new sample has %v of the weight", share)
		}
		fresh := New(cpu)
		fresh.Follow(slow, now)
		if fresh.shape != slow || fresh.reference != 0 {
			t.Error("an empty histogram does not follow")
		}
	})
	t.Run("keeps finite weights of samples that are many half-lives ahead when the half-life changes", func(t *testing.T) {
		for _, ahead := range []time.Duration{90 * time.Minute, 18 * time.Hour, 40 * time.Hour} {
			h := New(&Shape{Buckets: CPU, HalfLife: time.Minute})
			h.Add(1, 3, began.Add(ahead))
			h.Add(2, 1, began.Add(ahead))
			h.Follow(cpu, began)
			if h.Percentile(0.74) > 1.1 || h.Percentile(0.76) < 2 || math.IsNaN(h.total) || math.IsInf(h.total, 0) {
				t.Errorf("%v ahead: %+v", ahead, h)
			}
			if again, err := FromState(cpu, h.State()); err != nil || len(again.weights) != 2 {
				t.Errorf("%v ahead: %+v, %v", ahead, again, err)
			}
		}
	})
	t.Run("keeps weights in the order of buckets", func(t *testing.T) {
		h := New(cpu)
		for _, bucket := range rand.New(rand.NewPCG(1, 1)).Perm(count) {
			h.Add(CPU.starts[bucket]*1.0001+1e-6, float64(bucket+1), began)
		}
		if len(h.weights) != count || !slices.IsSorted(h.weights) {
			t.Errorf("weights %v", h.weights)
		}
	})
	t.Run("ends a percentile with the bucket that reaches it exactly", func(t *testing.T) {
		if got, want := of(1, 2).Percentile(0.5), of(1).Percentile(1); got != want {
			t.Errorf("median %v, want %v", got, want)
		}
	})
	t.Run("is independent of its clone", func(t *testing.T) {
		h := of(1)
		clone := h.Clone()
		clone.Add(1, 5, began)
		if h.weights[0] != 1 || clone.weights[0] != 6 {
			t.Errorf("weights %v and %v", h.weights, clone.weights)
		}
	})
	t.Run("yields its buckets in order, with shares", func(t *testing.T) {
		var uppers, shares []float64
		for b := range of(3, 1, 200, 1).Bars() {
			uppers, shares = append(uppers, b.To), append(shares, b.Share)
			if !(b.From < b.To && b.To < 1.06*b.From+0.01) {
				t.Errorf("a bucket from %v to %v", b.From, b.To)
			}
			if len(uppers) == 2 {
				break
			}
		}
		if !slices.Equal(uppers, []float64{of(1).Percentile(1), of(3).Percentile(1)}) || !slices.Equal(shares, []float64{0.5, 0.25}) {
			t.Errorf("%v with %v", uppers, shares)
		}
	})
	t.Run("of a typical container fits in 250 bytes", func(t *testing.T) {
		h := New(cpu)
		random := rand.New(rand.NewPCG(1, 2))
		for minute := range 8 * 24 * 60 {
			h.Add(0.2*math.Exp(0.15*random.NormFloat64()), 0.1, began.Add(time.Duration(minute)*time.Minute))
		}
		if size := int(unsafe.Sizeof(h)) + 8*cap(h.weights); size > 250 {
			t.Errorf("%d bytes with %d buckets", size, len(h.weights))
		}
	})
}

func TestShare(t *testing.T) {
	all, part, none := of(1, 1, 1, 1), of(1), of()
	if got := part.Share(all); got != 0.25 {
		t.Errorf("share %v, want 0.25", got)
	}
	if part.Share(none) != 0 || none.Share(all) != 0 {
		t.Error("an empty histogram has a share")
	}
	if got := all.Share(part); got != 1 {
		t.Errorf("share %v, want at most 1", got)
	}
	later := New(cpu)
	later.Add(1, 1, began.Add(day))
	if got := later.Share(all); got != 0.5 {
		t.Errorf("share %v of the weight a day later, want 0.5", got)
	}
}

func TestPercentileOfUnion(t *testing.T) {
	t.Run("converts upper edges, not buckets", func(t *testing.T) {
		if got, want := Percentile(0.5, Part{of(1), 1.25}), 1.25*of(1).Percentile(0.5); got != want {
			t.Errorf("median %v, want %v", got, want)
		}
	})
	t.Run("there and back is exact", func(t *testing.T) {
		h := of(0.3, 0.7, 1.9)
		if got, want := Percentile(0.5, Part{h, 1.25})/1.25, h.Percentile(0.5); math.Abs(got/want-1) > 1e-15 {
			t.Errorf("median %v, want %v", got, want)
		}
	})
	t.Run("orders the buckets of all parts", func(t *testing.T) {
		slow, fast := of(1, 4, 4), of(2, 2, 3)
		for i, want := range []float64{of(1).Percentile(1), of(2).Percentile(1), of(2).Percentile(1), of(3).Percentile(1), of(4).Percentile(1), of(4).Percentile(1)} {
			if got := Percentile((float64(i)+0.5)/6, Part{slow, 1}, Part{fast, 1}); got != want {
				t.Errorf("sample %d of the union is %v, want %v", i, got, want)
			}
		}
		if got, want := Percentile(1, Part{slow, 1}, Part{fast, 2}), 2*of(3).Percentile(1); got != want {
			t.Errorf("highest %v, want %v", got, want)
		}
	})
	t.Run("converts weights to one reference time", func(t *testing.T) {
		old, young := New(cpu), New(cpu)
		old.Add(1, 3, began)
		young.Add(2, 1, began.Add(day))
		parts := []Part{{&old, 1}, {&young, 1}}
		if got := Percentile(0.59, parts...); got != of(1).Percentile(1) {
			t.Errorf("percentile %v", got)
		}
		if got := Percentile(0.61, parts...); got != of(2).Percentile(1) {
			t.Errorf("percentile %v", got)
		}
	})
	t.Run("ignores empty parts", func(t *testing.T) {
		if got, want := Percentile(0.5, Part{of(), 1}, Part{of(1), 1}), of(1).Percentile(0.5); got != want {
			t.Errorf("median %v, want %v", got, want)
		}
		if Percentile(0.5) != 0 || Percentile(0.5, Part{of(), 1}) != 0 {
			t.Error("nothing has a percentile")
		}
	})
	t.Run("of the lightest buckets begins within the range of values", func(t *testing.T) {
		h := of(1, 2)
		h.Add(0.5, epsilon/2, began)
		if got, want := Percentile(0, Part{h, 1}), of(1).Percentile(1); got != want {
			t.Errorf("lowest %v, want %v", got, want)
		}
	})
	t.Run("covers all buckets", func(t *testing.T) {
		h := New(cpu)
		for bucket := range count {
			h.Add(CPU.starts[bucket]*1.0001+1e-6, 1, began)
		}
		for bucket := range count {
			if got, want := h.Percentile((float64(bucket)+0.5)/count), CPU.upper(bucket); got != want {
				t.Errorf("bucket %d ends at %v, want %v", bucket, got, want)
			}
		}
	})
}

func TestMove(t *testing.T) {
	moved, later := of(1, 1), New(cpu)
	for range 2 {
		later.Add(1, 1, began.Add(3*day))
	}
	moved.Move(3 * day)
	if moved.reference != later.reference {
		t.Errorf("the reference is %v, want %v", moved.reference, later.reference)
	}
	// Two samples of before weigh as much as two of three days later.
	for _, h := range []*Histogram{moved, &later} {
		h.Add(5, 3, began.Add(3*day))
		if low, high := h.Percentile(0.39), h.Percentile(0.41); low > 2 || high < 5 {
			t.Errorf("percentiles %v and %v", low, high)
		}
	}
	t.Run("keeps an empty histogram empty", func(t *testing.T) {
		h := New(cpu)
		if h.Move(day); h.reference != 0 || !h.Empty() {
			t.Errorf("the reference is %v", h.reference)
		}
	})
}
