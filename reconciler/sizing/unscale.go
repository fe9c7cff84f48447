package sizing

// unscaleCPU returns the original that scaleCPU scales to current at this factor, or
// the nearest to it: not every amount can be reached at a factor above 1. What of
// the original is known already (not 0) stays, and the rest goes with it. It is
// not more than Millicores reads.
func unscaleCPU(current, known Amount, f Factor) Amount {
	return unscale(current, known, f, toMillicore, scaleCPU)
}

// unscaleMemory returns the original that scaleMemory scales to current at this
// factor. Where an amount is not whole Mi, it comes out less than a Mi away,
// unless the factor is exactly 1. It is not more than Bytes reads.
func unscaleMemory(current, known Amount, f Factor) Amount {
	return unscale(current, known, f, toByte, scaleMemory)
}

// unscale divides by the factor what is not known.
func unscale(current, known Amount, f Factor, round func(Factor, int64) int64, scale func(Amount, Factor, Range) (Amount, bool)) Amount {
	if current.Request == 0 {
		return current
	}
	inverse, original, request := Factor{f.Den, f.Num}, known, current.Request
	if original.Request == 0 {
		original.Request = max(1, round(inverse, current.Request))
		back, _ := scale(Amount{Request: original.Request}, f, Range{})
		request = back.Request
	}
	switch {
	case current.Limit == 0:
		original.Limit = 0
	case original.Limit != 0:
		original.Request = min(original.Request, original.Limit)
	case current.Limit == current.Request:
		original.Limit = original.Request
	default:
		// As many times its request as it is to be again: limitOf allows no more.
		inProportion := round(Factor{1, 1}, Factor{uint64(original.Request), uint64(request)}.up(current.Limit))
		original.Limit = max(original.Request, round(inverse, current.Limit), inProportion)
	}
	return original
}

// toByte returns bytes × f rounded down, as scaleMemory rounds up, and not more than
// Bytes reads.
func toByte(f Factor, bytes int64) int64 { return min(f.down(bytes), mostBytes) }
