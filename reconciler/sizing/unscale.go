package sizing

// unscaleCPU returns the original that scaleCPU scales to current at this factor, or the
// nearest one: at a factor above 1, some amounts cannot be reached. Parts of the original
// that are already known (not 0) stay, and the rest is computed to match them. The result
// is never above mostMillicores.
func unscaleCPU(current, known Amount, f Factor) Amount {
	return unscale(current, known, f, toMillicore, scaleCPU)
}

// unscaleMemory returns the original that scaleMemory scales to current at this factor.
// An amount that is not a whole number of Mi comes out less than 1 Mi away, unless the
// factor is exactly 1. The result is never above mostBytes.
func unscaleMemory(current, known Amount, f Factor) Amount {
	return unscale(current, known, f, toByte, scaleMemory)
}

// unscale divides the unknown parts by the factor.
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
		// The original needs the same limit:request as current: limitOf allows no more.
		inProportion := round(Factor{1, 1}, Factor{uint64(original.Request), uint64(request)}.Up(current.Limit))
		original.Limit = max(original.Request, round(inverse, current.Limit), inProportion)
	}
	return original
}

// toByte returns bytes × f rounded down, because scaleMemory rounds up. The result is
// never above mostBytes.
func toByte(f Factor, bytes int64) int64 { return min(f.Down(bytes), mostBytes) }
