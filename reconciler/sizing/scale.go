package sizing

// mebibyte is what scaled memory is rounded up to.
const mebibyte = 1 << 20

// Range holds a request from Min to Max; 0 means that the end is open.
type Range struct{ Min, Max int64 }

// clamp returns v within the range, and whether that changed it.
func (r Range) clamp(v int64) (int64, bool) {
	if r.Min > 0 && v < r.Min {
		return r.Min, true
	}
	if r.Max > 0 && v > r.Max {
		return r.Max, true
	}
	return v, false
}

// CPU scales millicores: the request by f to the nearest millicore, at least
// one, held in bounds; the limit by what the request really changed. clamped
// tells that a bound decided. Neither becomes more than Millicores reads. A
// container without a cpu request stays as it is.
func CPU(original Amount, f Factor, bounds Range) (desired Amount, clamped bool) {
	if original.Request == 0 {
		return original, false
	}
	request, clamped := bounds.clamp(max(1, toMillicore(f, original.Request)))
	return Amount{request, follow(original, request, toMillicore)}, clamped
}

// Memory scales bytes: the request by f rounded up to a whole Mi, except at a
// factor of exactly 1, where it is not rounded; held in bounds; the limit by
// what the request really changed, rounded up likewise. clamped tells that a
// bound decided. Neither becomes more than Bytes reads. A container without a
// memory request stays as it is.
func Memory(original Amount, f Factor, bounds Range) (desired Amount, clamped bool) {
	if original.Request == 0 {
		return original, false
	}
	request := original.Request
	if !f.isOne() {
		request = upToMebibyte(f, request)
	}
	request, clamped = bounds.clamp(request)
	return Amount{request, follow(original, request, upToMebibyte)}, clamped
}

// follow returns the limit that stands to request as the original limit stands
// to the original request, so that Guaranteed stays Guaranteed and a limit is
// never below its request.
func follow(original Amount, request int64, scale func(Factor, int64) int64) int64 {
	switch {
	case original.Limit == 0 || request == original.Request:
		return original.Limit
	case original.Limit == original.Request:
		return request
	}
	return max(request, scale(Factor{uint64(request), uint64(original.Request)}, original.Limit))
}

// toMillicore returns millicores × f rounded to the nearest millicore. What is
// more than Millicores reads would be read as something else than was written.
func toMillicore(f Factor, millicores int64) int64 {
	return min(f.nearest(millicores), mostCores*1000)
}

// upToMebibyte returns bytes × f rounded up to a whole Mi, and not more than
// Bytes reads.
func upToMebibyte(f Factor, bytes int64) int64 {
	scaled := min(f.up(bytes), mostBytes)
	return (scaled + mebibyte - 1) / mebibyte * mebibyte
}
