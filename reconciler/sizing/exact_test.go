package sizing

import "math/big"

// kind is cpu or memory: the code under test, and how amounts are rounded, computed in
// exact fractions.
type kind struct {
	name    string
	scale   func(Amount, Factor, Range) (Amount, bool)
	unscale func(current, known Amount, f Factor) Amount
	// unit is the unit that amounts are rounded to; half rounds to the nearest unit
	// instead of up.
	unit int64
	half bool
	// most is the largest amount that is read.
	most int64
}

var (
	cpuKind    = kind{"cpu", scaleCPU, unscaleCPU, 1, true, mostMillicores}
	memoryKind = kind{"memory", scaleMemory, unscaleMemory, mebibyte, false, mostBytes}
	kinds      = []kind{cpuKind, memoryKind}
)

func integer(v int64) *big.Rat { return new(big.Rat).SetInt64(v) }

func fraction(f Factor) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(f.Num), new(big.Int).SetUint64(f.Den))
}

// proportion returns v × num / den.
func proportion(v, num, den int64) *big.Rat {
	x := new(big.Rat).Mul(integer(v), integer(num))
	return x.Quo(x, integer(den))
}

// round rounds an exact amount to whole units.
func (k kind) round(exact *big.Rat) int64 {
	units := new(big.Rat).Quo(exact, integer(k.unit))
	if k.half {
		units.Add(units, big.NewRat(1, 2))
	}
	whole, rest := new(big.Int).DivMod(units.Num(), units.Denom(), new(big.Int))
	if !k.half && rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	whole.Mul(whole, big.NewInt(k.unit))
	if whole.Cmp(big.NewInt(k.most)) > 0 {
		return k.most
	}
	return whole.Int64()
}

// exact returns what scale must return.
func (k kind) exact(original Amount, f Factor, bounds Range) (desired Amount, clamped bool) {
	if original.Request == 0 {
		return original, false
	}
	request, limit := original.Request, original.Limit
	if f.Num != f.Den {
		request = max(1, k.round(new(big.Rat).Mul(integer(request), fraction(f))))
		limit = k.round(new(big.Rat).Mul(integer(limit), fraction(f)))
	}
	desired.Request = request
	if bounds.Max > 0 {
		desired.Request = min(desired.Request, bounds.Max)
	}
	desired.Request = max(desired.Request, bounds.Min)
	switch {
	case original.Limit == 0:
	case original.Limit == original.Request:
		desired.Limit = desired.Request
	case desired.Request == original.Request && limit >= original.Limit:
		desired.Limit = original.Limit
	case desired.Request == original.Request:
		desired.Limit = max(limit, desired.Request+k.unit)
	default:
		inProportion := k.wholeUnits(proportion(original.Limit, desired.Request, original.Request))
		desired.Limit = min(k.most, max(min(limit, inProportion), desired.Request+k.unit))
	}
	return desired, desired.Request != request
}

// wholeUnits rounds an exact amount down to whole units.
func (k kind) wholeUnits(exact *big.Rat) int64 {
	units := new(big.Rat).Quo(exact, integer(k.unit))
	whole := new(big.Int).Quo(units.Num(), units.Denom())
	whole.Mul(whole, big.NewInt(k.unit))
	if whole.Cmp(big.NewInt(k.most)) > 0 {
		return k.most
	}
	return whole.Int64()
}
