package sizing

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// unscaleRules hold for every original that is computed from a pod's current amounts.
// original is the result of unscale, back the result of scale for it.
var unscaleRules = []struct {
	name string
	kept func(k kind, current Amount, f Factor, original, back Amount) bool
}{
	{"nothing changes without a request", func(_ kind, current Amount, _ Factor, original, _ Amount) bool {
		return current.Request != 0 || original == current
	}},
	{"an original can be read again", func(k kind, current Amount, _ Factor, original, _ Amount) bool {
		return current.Request == 0 || original.Request >= 1 && original.Request <= k.most && original.Limit <= k.most &&
			(original.Limit == 0) == (current.Limit == 0)
	}},
	{"a limit is not below its request", func(_ kind, _ Amount, _ Factor, original, _ Amount) bool {
		return original.Limit == 0 || original.Limit >= original.Request
	}},
	{"a limit equal to its request stays equal", func(_ kind, current Amount, _ Factor, original, _ Amount) bool {
		return current.Limit != current.Request || original.Limit == original.Request
	}},
	{"a factor of 1 changes nothing", func(_ kind, current Amount, f Factor, original, _ Amount) bool {
		return !f.isOne() || original == current
	}},
	{"whole units come back exactly; cpu only at a factor of at most 1", func(k kind, current Amount, f Factor, original, back Amount) bool {
		return f.Num > f.Den && k.half || !whole(k, current) || beyond(k, current, f, original) || back == current
	}},
	{"no other original comes closer to a cpu request", func(k kind, current Amount, f Factor, original, back Amount) bool {
		if !k.half || current.Request == 0 {
			return true
		}
		for _, other := range [...]int64{original.Request - 1, original.Request + 1} {
			if other < 1 || other > k.most {
				continue
			}
			if to, _ := k.scale(Amount{Request: other}, f, open); distance(to.Request, current.Request) < distance(back.Request, current.Request) {
				return false
			}
		}
		return true
	}},
	{"at a factor above 1, a cpu limit comes back less than twice the factor plus one away", func(k kind, current Amount, f Factor, original, back Amount) bool {
		if !k.half || current.Request == 0 || current.Limit == 0 || f.Num <= f.Den || beyond(k, current, f, original) || back.Limit == k.most {
			return true
		}
		twice := new(big.Rat).Mul(integer(2), fraction(f))
		return integer(distance(back.Limit, current.Limit)).Cmp(twice.Add(twice, integer(1))) < 0
	}},
	{"memory that is not a whole number of Mi comes back less than one Mi away", func(k kind, current Amount, f Factor, original, back Amount) bool {
		return k.half || current.Request == 0 || beyond(k, current, f, original) || distance(back.Request, current.Request) < k.unit
	}},
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

func whole(k kind, a Amount) bool { return a.Request%k.unit == 0 && a.Limit%k.unit == 0 }

// beyond reports whether every original that can be read is too small, or, at a factor
// that turns one byte into more than one Mi, too large.
func beyond(k kind, current Amount, f Factor, original Amount) bool {
	return original.Request == k.most || original.Limit == k.most ||
		!k.half && fraction(f).Cmp(integer(min(k.unit, max(1, current.Request)))) > 0
}

func TestEveryUnscaling(t *testing.T) {
	const seed1, seed2 = 5, 6
	r := rand.New(rand.NewPCG(seed1, seed2))
	for _, k := range kinds {
		for range 50_000 {
			in := someInput(r, k)
			if r.IntN(2) == 0 { // Like most memory.
				in.original.Request = (in.original.Request + k.unit - 1) / k.unit * k.unit
				in.original.Limit = (in.original.Limit + k.unit - 1) / k.unit * k.unit
			}
			if !checkUnscaling(t, k, in.original, in.f) {
				t.Fatalf("seeds %d, %d", seed1, seed2)
			}
		}
	}
}

func checkUnscaling(t *testing.T, k kind, current Amount, f Factor) bool {
	t.Helper()
	original := k.unscale(current, Amount{}, f)
	back, _ := k.scale(original, f, open)
	for _, rule := range unscaleRules {
		if !rule.kept(k, current, f, original, back) {
			t.Errorf("%s %v / %v is %v, which is scaled to %v, which breaks the rule: %s", k.name, current, f, original, back, rule.name)
		}
	}
	return !t.Failed()
}

func TestUnscale(t *testing.T) {
	t.Run("keeps the known amount and computes the other", keepsTheKnownAmountAndComputesTheOther)
	t.Run("never raises a request above the known limit", neverRaisesARequestAboveTheKnownLimit)
}

func keepsTheKnownAmountAndComputesTheOther(t *testing.T) {
	for _, tc := range []struct {
		name           string
		current, known Amount
		f              Factor
		bounds         Range
		want           Amount
	}{
		{"keeps limit:request for a limit set by another actor", Amount{800, 4000}, Amount{Request: 1000}, Factor{4, 5}, open, Amount{1000, 5000}},
		{"computes the limit of a request at its max", Amount{16000, 20000}, Amount{Request: 14000}, Factor{13, 10}, Range{0, 16000}, Amount{14000, 17500}},
		{"computes the limit of a request at its min", Amount{50, 2000}, Amount{Request: 10}, Factor{4, 5}, Range{50, 0}, Amount{10, 2500}},
		{"keeps a limit equal to its request", Amount{800, 800}, Amount{Request: 1000}, Factor{4, 5}, open, Amount{1000, 1000}},
		{"keeps the known limit for a request set by another actor", Amount{400, 1600}, Amount{Limit: 2000}, Factor{4, 5}, open, Amount{500, 2000}},
		{"keeps a request equal to its limit", Amount{1600, 1600}, Amount{Limit: 2000}, Factor{4, 5}, open, Amount{2000, 2000}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := unscaleCPU(tc.current, tc.known, tc.f)
			if got != tc.want {
				t.Errorf("unscaleCPU(%v, %v, %v) = %v, want %v", tc.current, tc.known, tc.f, got, tc.want)
			}
			if back, _ := scaleCPU(got, tc.f, tc.bounds); back != tc.current {
				t.Errorf("%v is scaled to %v, want %v again", got, back, tc.current)
			}
		})
	}
}

func neverRaisesARequestAboveTheKnownLimit(t *testing.T) {
	if got := unscaleCPU(Amount{3, 3}, Amount{Limit: 1}, Factor{2, 1}); got != (Amount{1, 1}) {
		t.Errorf("got %v, want 1m/1m", got)
	}
}
