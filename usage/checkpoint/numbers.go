package checkpoint

import "time"

// page is the unit in which kernels count memory.
const page = 4096

// packBytes returns twice the number of pages, or if these are not whole, twice the number of bytes, plus 1.
func packBytes(bytes int64) uint64 {
	if bytes%page == 0 {
		return uint64(bytes / page * 2)
	}
	return uint64(bytes*2 + 1)
}

func unpackBytes(n uint64) int64 {
	if n%2 == 0 {
		return int64(n / 2 * page)
	}
	return int64(n / 2)
}

// packTime returns the distance of a time from another one: twice the seconds, plus 1, or if these are not
// whole, twice the nanoseconds, if that fits. 0 means no time.
func packTime(at, from time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	d := nanos(at) - nanos(from)
	if seconds := d / int64(time.Second); d%int64(time.Second) == 0 || 2*d/2 != d {
		return 2*seconds + 1
	}
	return 2 * d
}

func unpackTime(n int64, from time.Time) time.Time {
	switch {
	case n == 0:
		return time.Time{}
	case n%2 == 0:
		return time.Unix(0, nanos(from)+n/2).UTC()
	default:
		return time.Unix(0, nanos(from)+n>>1*int64(time.Second)).UTC()
	}
}

// nanos returns the nanoseconds since 1970; 0 for no time.
func nanos(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}

// packSeconds returns the seconds since 1970; 0 for no time.
func packSeconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.Unix()
}

func unpackSeconds(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}
