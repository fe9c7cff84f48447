package sizing

// UnscaleCPU returns the original that CPU scales to current at this factor, or
// the nearest to it: not every amount can be reached at a factor above 1. The
// limit gets the same distance. It is not more than Millicores reads.
func UnscaleCPU(current Amount, f Factor) Amount {
	return unscale(current, f, toMillicore)
}

// UnscaleMemory returns the original that Memory scales to current at this
// factor. Where an amount is not whole Mi, it comes out less than a Mi away,
// unless the factor is exactly 1. It is not more than Bytes reads.
func UnscaleMemory(current Amount, f Factor) Amount {
	return unscale(current, f, toByte)
}

// unscale divides the request, and gives the limit the same distance.
func unscale(current Amount, f Factor, scale func(Factor, int64) int64) Amount {
	if current.Request == 0 {
		return current
	}
	request := max(1, scale(Factor{f.Den, f.Num}, current.Request))
	return Amount{request, follow(current, request, scale)}
}

// toByte returns bytes × f rounded down, as Memory rounds up, and not more than
// Bytes reads.
func toByte(f Factor, bytes int64) int64 { return min(f.down(bytes), mostBytes) }
