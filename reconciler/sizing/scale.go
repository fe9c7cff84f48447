package sizing

// mebibyte is the unit that scaled memory is rounded to.
const mebibyte = 1 << 20

// Range bounds a request from Min to Max; 0 means unbounded.
type Range struct{ Min, Max int64 }

// Valid reports whether the range contains a value: Min is not above Max.
func (r Range) Valid() bool { return r.Max == 0 || r.Min <= r.Max }

// clamp returns v clamped to the range, and whether that changed it. v must not be
// negative.
func (r Range) clamp(v int64) (int64, bool) {
	if v < r.Min {
		return r.Min, true
	}
	if r.Max > 0 && v > r.Max {
		return r.Max, true
	}
	return v, false
}

// scaleCPU scales millicores: the request by f to the nearest millicore, at least one,
// clamped to bounds; the limit as limitOf describes. clamped reports whether a bound
// determined the request. Neither exceeds mostMillicores. A container without a cpu
// request stays unchanged.
func scaleCPU(original Amount, f Factor, bounds Range) (desired Amount, clamped bool) {
	if original.Request == 0 {
		return original, false
	}
	request, clamped := bounds.clamp(max(1, toMillicore(f, original.Request)))
	return Amount{request, limitOf(original, request, toMillicore(f, original.Limit), 1, mostMillicores)}, clamped
}

// scaleMemory scales bytes: the request by f, rounded up to a whole Mi and clamped to
// bounds; the limit as limitOf describes. At a factor of exactly 1, nothing is rounded.
// clamped reports whether a bound determined the request. Neither exceeds mostBytes. A
// container without a memory request stays unchanged.
func scaleMemory(original Amount, f Factor, bounds Range) (desired Amount, clamped bool) {
	if original.Request == 0 {
		return original, false
	}
	request, limit := original.Request, original.Limit
	if !f.isOne() {
		request, limit = upToMebibyte(f, request), upToMebibyte(f, limit)
	}
	request, clamped = bounds.clamp(request)
	return Amount{request, limitOf(original, request, limit, mebibyte, mostBytes)}, clamped
}

// limitOf returns the limit for a request that has become request. A limit in proportion
// to its request is rounded down to unit, and no limit above its request exceeds most.
// scaled is the original limit times the factor.
//
// Bounds apply only to requests, so a bound that changes a request never makes its limit
// larger than the factor does. Nor does limit:request ever exceed what the author wrote.
// A limit equal to its request stays equal, and a limit above its request stays above it
// by at least one unit: the QoS class depends on it.
func limitOf(original Amount, request, scaled, unit, most int64) int64 {
	switch original.Limit {
	case 0:
		return 0
	case original.Request:
		return request
	}
	inProportion := original.Limit
	if request != original.Request {
		inProportion = Factor{uint64(request), uint64(original.Request)}.Down(inProportion) / unit * unit
	} else if scaled >= inProportion {
		return inProportion
	}
	return min(most, max(request+unit, min(scaled, inProportion)))
}

// toMillicore returns millicores × f rounded to the nearest millicore, up to
// mostMillicores, the largest amount that Millicores can parse.
func toMillicore(f Factor, millicores int64) int64 {
	return min(f.nearest(millicores), mostMillicores)
}

// upToMebibyte returns bytes × f rounded up to a whole Mi, up to mostBytes, the largest
// amount that Bytes can parse.
func upToMebibyte(f Factor, bytes int64) int64 {
	scaled := min(f.Up(bytes), mostBytes)
	return (scaled + mebibyte - 1) / mebibyte * mebibyte
}
