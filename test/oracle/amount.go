package oracle

import (
	"math/big"

	corev1 "k8s.io/api/core/v1"
)

// Mebibyte is the unit to which scaled memory is rounded.
const Mebibyte = 1 << 20

// Amount is a request and a limit, in millicores or bytes. 0 means none.
type Amount struct{ Request, Limit int64 }

// AmountOf returns the amount of cpu or memory.
func AmountOf(r corev1.ResourceRequirements, name corev1.ResourceName) Amount {
	request, limit := r.Requests[name], r.Limits[name]
	if name == corev1.ResourceCPU {
		return Amount{request.MilliValue(), limit.MilliValue()}
	}
	return Amount{request.Value(), limit.Value()}
}

// Range bounds requests to Min and Max. A Max of 0 means no upper bound.
type Range struct{ Min, Max int64 }

// CPU returns the size for an original amount of cpu.
func CPU(a Amount, factor *big.Rat, bounds Range) Amount { return a.times(factor, bounds, 1, nearest) }

// Memory returns the size for an original amount of memory.
func Memory(a Amount, factor *big.Rat, bounds Range) Amount {
	return a.times(factor, bounds, Mebibyte, wholeMebibytes)
}

// times multiplies the request by factor, within bounds. It also multiplies the limit by factor,
// but the limit becomes no larger in relation to its request than before. A limit above its
// request stays above it by at least one unit.
func (a Amount) times(factor *big.Rat, bounds Range, unit int64, round func(*big.Rat) int64) Amount {
	if a.Request == 0 {
		return a
	}
	request, limit := a.Request, a.Limit
	if factor.Cmp(big.NewRat(1, 1)) != 0 {
		request, limit = max(1, round(times(a.Request, factor))), round(times(a.Limit, factor))
	}
	request = max(request, bounds.Min)
	if bounds.Max > 0 {
		request = min(request, bounds.Max)
	}
	switch a.Limit {
	case 0:
		return Amount{request, 0}
	case a.Request:
		return Amount{request, request}
	}
	most := times(a.Limit, big.NewRat(request, a.Request))
	whole := new(big.Int).Quo(most.Num(), most.Denom()).Int64()
	if request != a.Request {
		whole = whole / unit * unit
	}
	if limit = min(limit, whole); limit < request+unit && (request != a.Request || limit != a.Limit) {
		limit = request + unit
	}
	return Amount{request, limit}
}

func times(v int64, factor *big.Rat) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt64(v), factor)
}

// nearest rounds to an integer, halves up.
func nearest(x *big.Rat) int64 {
	doubled := new(big.Int).Lsh(x.Num(), 1)
	doubled.Add(doubled, x.Denom())
	return new(big.Int).Div(doubled, new(big.Int).Lsh(x.Denom(), 1)).Int64()
}

// wholeMebibytes rounds up to a multiple of 1Mi.
func wholeMebibytes(x *big.Rat) int64 {
	unit := new(big.Int).Mul(x.Denom(), big.NewInt(Mebibyte))
	whole, rest := new(big.Int).DivMod(x.Num(), unit, new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole.Int64() * Mebibyte
}
