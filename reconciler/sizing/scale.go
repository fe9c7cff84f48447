package sizing

// mebibyte is what scaled memory is rounded to.
const mebibyte = 1 << 20

// Range holds a request from Min to Max; 0 means that the end is open.
type Range struct{ Min, Max int64 }

// Valid reports whether there is a value in the range: Min is not above Max.
func (r Range) Valid() bool { return r.Max == 0 || r.Min <= r.Max }

// clamp returns v, which is not negative, within the range, and whether that changed it.
func (r Range) clamp(v int64) (int64, bool) {
	if v < r.Min {
		return r.Min, true
	}
	if r.Max > 0 && v > r.Max {
		return r.Max, true
	}
	return v, false
}

// scaleCPU scales millicores: the request by f to the nearest millicore, at least
// one, held in bounds; the limit as limitOf says. clamped reports that a bound
// decided the request. Neither becomes more than Millicores reads. A container
// without a cpu request stays as it is.
func scaleCPU(original Amount, f Factor, bounds Range) (desired Amount, clamped bool) {
	if original.Request == 0 {
		return original, false
	}
	request, clamped := bounds.clamp(max(1, toMillicore(f, original.Request)))
	return Amount{request, limitOf(original, request, toMillicore(f, original.Limit), 1, mostMillicores)}, clamped
}

// scaleMemory scales bytes: the request by f rounded up to a whole Mi, except at a
// factor of exactly 1, where it is not rounded; held in bounds; the limit as
// limitOf says. clamped reports that a bound decided the request. Neither becomes
// more than Bytes reads. A container without a memory request stays as it is.
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

// limitOf returns the limit, a multiple of unit and at most most, beside a request that has
// become request; scaled is the original limit times the factor. Bounds hold for requests alone, so that
// what a bound makes of a request never makes a limit larger than the factor
// does. Nor is the limit ever more times its request than its author wrote. What
// was equal stays equal, and what was above stays above by a unit at least: the
// QoS class depends on it.
func limitOf(original Amount, request, scaled, unit, most int64) int64 {
	switch original.Limit {
	case 0:
		return 0
	case original.Request:
		return request
	}
	inProportion := original.Limit
	if request != original.Request {
		inProportion = Factor{uint64(request), uint64(original.Request)}.down(inProportion) / unit * unit
	} else if scaled >= inProportion {
		return inProportion
	}
	return min(most, max(request+unit, min(scaled, inProportion)))
}

// toMillicore returns millicores × f rounded to the nearest millicore. What is
// more than Millicores reads would be read as something else than was written.
func toMillicore(f Factor, millicores int64) int64 {
	return min(f.nearest(millicores), mostMillicores)
}

// upToMebibyte returns bytes × f rounded up to a whole Mi, and not more than
// Bytes reads.
func upToMebibyte(f Factor, bytes int64) int64 {
	scaled := min(f.up(bytes), mostBytes)
	return (scaled + mebibyte - 1) / mebibyte * mebibyte
}
