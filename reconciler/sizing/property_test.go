package sizing

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// input is a scaling, with the values that its properties are tested with.
type input struct {
	original Amount
	f        Factor
	bounds   Range
	// more is added to one number at a time.
	more int64
}

// upTo returns a number from 1 to most; short numbers are as frequent as long ones.
func upTo(r *rand.Rand, most int64) int64 {
	return 1 + r.Int64N(most)>>r.IntN(63)
}

// someInput returns an arbitrary scaling of amounts that the API server accepts: no limit
// is below its request.
func someInput(r *rand.Rand, k kind) input {
	in := input{f: someFactor(r), more: upTo(r, 1<<50)}
	in.original.Request = upTo(r, k.most)
	switch r.IntN(5) {
	case 0: // No limit.
	case 1:
		in.original.Limit = in.original.Request
	case 2: // Close by, where rounding matters.
		in.original.Limit = min(k.most, in.original.Request+r.Int64N(2*k.unit+1))
	default:
		in.original.Limit = max(in.original.Request, upTo(r, k.most))
	}
	if r.IntN(20) == 0 {
		in.original.Request = 0
	}
	for _, end := range [...]*int64{&in.bounds.Min, &in.bounds.Max} {
		switch r.IntN(4) {
		case 0: // Open.
		case 1: // Close by.
			*end = max(1, min(k.most, in.original.Request+r.Int64N(2*k.unit+1)-k.unit))
		default:
			*end = upTo(r, k.most)
		}
	}
	if in.bounds.Max > 0 && (in.bounds.Min > in.bounds.Max || r.IntN(10) == 0) {
		in.bounds.Min = in.bounds.Max
	}
	return in
}

func someFactor(r *rand.Rand) Factor {
	f := Factor{uint64(upTo(r, 1<<62)), uint64(upTo(r, 1<<62))}
	switch r.IntN(4) {
	case 0: // Next to 1, or exactly 1.
		f.Num = max(1, f.Den+r.Uint64N(3)-1)
	case 1: // As in real configurations.
		f = Factor{1 + r.Uint64N(2000), 1 + r.Uint64N(2000)}
	}
	return f
}

// rules hold for every scaling; kept reports whether got keeps the rule.
var rules = []struct {
	name string
	kept func(k kind, in input, got Amount) bool
}{
	{"nothing changes without a request", func(_ kind, in input, got Amount) bool {
		return in.original.Request != 0 || got == in.original
	}},
	{"a request is above 0 and within bounds", func(_ kind, in input, got Amount) bool {
		return in.original.Request == 0 || got.Request >= max(1, in.bounds.Min) && (in.bounds.Max == 0 || got.Request <= in.bounds.Max)
	}},
	{"no amount exceeds the largest that can be read", func(k kind, _ input, got Amount) bool {
		return got.Request <= k.most && got.Limit <= k.most
	}},
	{"no limit is added or removed", func(_ kind, in input, got Amount) bool {
		return (got.Limit == 0) == (in.original.Limit == 0)
	}},
	{"a limit is not below its request", func(_ kind, _ input, got Amount) bool {
		return got.Limit == 0 || got.Limit >= got.Request
	}},
	{"a limit equal to its request stays equal", func(_ kind, in input, got Amount) bool {
		return in.original.Limit != in.original.Request || got.Limit == got.Request
	}},
	{"a limit above its request stays above it, up to the largest amount", func(k kind, in input, got Amount) bool {
		return in.original.Request == 0 || in.original.Limit <= in.original.Request || got.Limit > got.Request || got.Limit == k.most
	}},
	{"limit:request never exceeds the author's, except for the unit that keeps the limit above", func(k kind, in input, got Amount) bool {
		return in.original.Request == 0 || got.Limit <= got.Request+k.unit ||
			integer(got.Limit).Cmp(proportion(in.original.Limit, got.Request, in.original.Request)) <= 0
	}},
	{"a limit never exceeds the original × factor, except for the unit that keeps it above", func(k kind, in input, got Amount) bool {
		if in.original.Request == 0 || got.Limit <= got.Request+k.unit {
			return true
		}
		over := new(big.Rat).Sub(integer(got.Limit), new(big.Rat).Mul(integer(in.original.Limit), fraction(in.f)))
		return over.Cmp(integer(k.unit)) < 0
	}},
	{"a limit is less than one unit below its maximum", func(k kind, in input, got Amount) bool {
		if in.original.Request == 0 || got.Limit == 0 || got.Limit == k.most {
			return true
		}
		most := new(big.Rat).Mul(integer(in.original.Limit), fraction(in.f))
		if p := proportion(in.original.Limit, got.Request, in.original.Request); p.Cmp(most) < 0 {
			most = p
		}
		return most.Sub(most, integer(got.Limit)).Cmp(integer(k.unit)) < 0
	}},
	{"every way to write a factor of 1 leaves an amount within bounds unchanged", func(k kind, in input, _ Amount) bool {
		within := in.original.Request >= in.bounds.Min && (in.bounds.Max == 0 || in.original.Request <= in.bounds.Max)
		again, clamped := k.scale(in.original, Factor{in.f.Num, in.f.Num}, in.bounds)
		return !within || again == in.original && !clamped
	}},
	{"a larger original request never gives a smaller request", func(k kind, in input, got Amount) bool {
		more := Amount{Request: in.original.Request + in.more}
		larger, _ := k.scale(more, in.f, in.bounds)
		return larger.Request >= got.Request
	}},
	{"a larger original limit never gives a smaller limit", func(k kind, in input, got Amount) bool {
		if in.original.Limit == 0 {
			return true
		}
		larger, _ := k.scale(Amount{in.original.Request, in.original.Limit + in.more}, in.f, in.bounds)
		return larger.Limit >= got.Limit
	}},
	{"a larger factor never gives a smaller request, nor a smaller limit except for rounding up", func(k kind, in input, got Amount) bool {
		f := Factor{in.f.Num + uint64(in.more), in.f.Den}
		if in.f.isOne() || f.isOne() {
			return true // Only at 1 is memory not rounded.
		}
		larger, _ := k.scale(in.original, f, in.bounds)
		return larger.Request >= got.Request && larger.Limit > got.Limit-k.unit
	}},
}

func TestEveryScaling(t *testing.T) {
	const seed1, seed2 = 3, 4
	r := rand.New(rand.NewPCG(seed1, seed2))
	for _, k := range kinds {
		for range 50_000 {
			if in := someInput(r, k); !check(t, k, in) {
				t.Fatalf("seeds %d, %d", seed1, seed2)
			}
		}
	}
}

// check compares one scaling with exact fractions, and checks all rules.
func check(t *testing.T, k kind, in input) bool {
	t.Helper()
	got, clamped := k.scale(in.original, in.f, in.bounds)
	if want, wantClamped := k.exact(in.original, in.f, in.bounds); got != want || clamped != wantClamped {
		t.Errorf("%s %v × %v in %v is %v (clamped %v), exactly %v (%v)", k.name, in.original, in.f, in.bounds, got, clamped, want, wantClamped)
	}
	for _, rule := range rules {
		if !rule.kept(k, in, got) {
			t.Errorf("%s %v × %v in %v is %v (more: %d), which breaks the rule: %s", k.name, in.original, in.f, in.bounds, got, in.more, rule.name)
		}
	}
	return !t.Failed()
}
