package history

import "time"

// remembered is how many hours of samples are known: eight days.
const remembered = 192

// hours knows in which hours there were samples.
type hours struct {
	// first is when the first sample was taken, in seconds since 1970, and last the hour of the
	// last one, in hours since 1970.
	first, last int64
	// seen has a bit for each of the last hours, the lowest for the last one.
	seen [remembered / 64]uint64
}

// hourOf returns the hours since 1970.
func hourOf(at time.Time) int64 { return at.Unix() / 3600 }

// mark notes a sample.
func (h *hours) mark(at time.Time) {
	hour := hourOf(at)
	if h.last == 0 {
		h.first, h.last = at.Unix(), hour
	}
	h.first = min(h.first, at.Unix())
	for ; h.last < hour; h.last++ {
		if hour-h.last > remembered {
			h.seen, h.last = [len(h.seen)]uint64{}, hour-1
		}
		for i := len(h.seen) - 1; i > 0; i-- {
			h.seen[i] = h.seen[i]<<1 | h.seen[i-1]>>63
		}
		h.seen[0] <<= 1
	}
	if age := h.last - hour; age < remembered {
		h.seen[age/64] |= 1 << (age % 64)
	}
}

// rewind makes the last hour the current one if it lies in the future.
func (h *hours) rewind(now time.Time) {
	if h.last > hourOf(now.Add(Skew)) {
		h.first, h.last = min(h.first, now.Unix()), hourOf(now)
	}
}

// known returns how much is known.
func (h *hours) known(now time.Time) Known {
	if h.last == 0 {
		return Known{}
	}
	return Known{Begin: time.Unix(h.first, 0).UTC(), Coverage: h.share(now)}
}

// share returns the share of hours with samples since the first one, of at most eight days.
func (h *hours) share(now time.Time) float64 {
	until := hourOf(now)
	since := max(h.first/3600, until-remembered+1)
	if h.last == 0 || until < since {
		return 0
	}
	seen := 0
	for hour := since; hour <= min(until, h.last); hour++ {
		if age := h.last - hour; age < remembered && h.seen[age/64]&(1<<(age%64)) != 0 {
			seen++
		}
	}
	return float64(seen) / float64(until-since+1)
}
