package sizing

import (
	"math"
	"math/bits"
)

// Factor is the exact positive fraction Num/Den that requests are multiplied
// by. Neither may be 0 and both must be below 1<<63.
type Factor struct{ Num, Den uint64 }

// Float64 returns the nearest float.
func (f Factor) Float64() float64 { return float64(f.Num) / float64(f.Den) }

// Inverse returns the factor that undoes this one, except for rounding.
func (f Factor) Inverse() Factor { return Factor{Num: f.Den, Den: f.Num} }

// isOne reports whether the factor is exactly 1.
func (f Factor) isOne() bool { return f.Num == f.Den }

// nearest returns v × f rounded to the nearest integer, halves up, or math.MaxInt64 if
// that is too large. v must not be negative.
func (f Factor) nearest(v int64) int64 {
	q, r, ok := f.mulDiv(v)
	if !ok {
		return math.MaxInt64
	}
	if r >= f.Den-r {
		q++
	}
	return saturate(q)
}

// Down returns v × f rounded down to an integer, or math.MaxInt64 if that is too large.
// v must not be negative.
func (f Factor) Down(v int64) int64 {
	q, _, ok := f.mulDiv(v)
	if !ok {
		return math.MaxInt64
	}
	return saturate(q)
}

// Up returns v × f rounded up to an integer, or math.MaxInt64 if that is too large. v
// must not be negative.
func (f Factor) Up(v int64) int64 {
	q, r, ok := f.mulDiv(v)
	if !ok {
		return math.MaxInt64
	}
	if r > 0 {
		q++
	}
	return saturate(q)
}

// mulDiv returns v × Num ÷ Den rounded down, computed in 128 bits, and the remainder. It
// returns false if the result does not fit in 64 bits.
func (f Factor) mulDiv(v int64) (quotient, remainder uint64, ok bool) {
	hi, lo := bits.Mul64(uint64(v), f.Num)
	if hi >= f.Den {
		return 0, 0, false
	}
	quotient, remainder = bits.Div64(hi, lo, f.Den)
	return quotient, remainder, true
}

func saturate(q uint64) int64 { return int64(min(q, math.MaxInt64)) }
