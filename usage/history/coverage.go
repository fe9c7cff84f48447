package history

import "time"

// remembered is how many hours of samples are known: eight days.
const remembered = 192

// Hours knows in which hours there were samples.
type Hours struct {
	// First is when the first sample was taken, in seconds since 1970, and Last the hour of the
	// last one, in hours since 1970.
	First, Last int64
	// Seen has a bit for each of the last hours, the lowest for the last one.
	Seen [remembered / 64]uint64
}

// hourOf returns the hours since 1970.
func hourOf(at time.Time) int64 { return at.Unix() / 3600 }

// mark notes a sample.
func (h *Hours) mark(at time.Time) {
	hour := hourOf(at)
	if h.Last == 0 {
		h.First, h.Last = at.Unix(), hour
	}
	h.First = min(h.First, at.Unix())
	h.advance(hour)
	if age := h.Last - hour; age < remembered {
		h.Seen[age/64] |= 1 << (age % 64)
	}
}

// advance makes an hour the last one if it is later.
func (h *Hours) advance(hour int64) {
	by := hour - h.Last
	if by <= 0 {
		return
	}
	h.Last = hour
	words, bits := int(min(by, remembered)/64), by%64
	for i := len(h.Seen) - 1; i >= 0; i-- {
		seen := uint64(0)
		if from := i - words; from >= 0 {
			seen = h.Seen[from] << bits
			if from > 0 {
				seen |= h.Seen[from-1] >> (64 - bits)
			}
		}
		h.Seen[i] = seen
	}
}

// add adds the hours of another.
func (h *Hours) add(other Hours) {
	if other.Last == 0 {
		return
	}
	if h.Last == 0 {
		*h = other
		return
	}
	h.First = min(h.First, other.First)
	h.advance(other.Last)
	other.advance(h.Last)
	for i := range h.Seen {
		h.Seen[i] |= other.Seen[i]
	}
}

// rewind makes the last hour the current one if it lies in the future.
func (h *Hours) rewind(now time.Time) {
	if h.Last > hourOf(now.Add(Skew)) {
		h.First, h.Last = min(h.First, now.Unix()), hourOf(now)
	}
}

// known returns how much is known.
func (h *Hours) known(now time.Time) Known {
	if h.Last == 0 {
		return Known{}
	}
	return Known{Begin: time.Unix(h.First, 0).UTC(), Coverage: h.share(now)}
}

// share returns the share of hours with samples since the first one, of at most eight days.
func (h *Hours) share(now time.Time) float64 {
	until := hourOf(now)
	since := max(h.First/3600, until-remembered+1)
	if h.Last == 0 || until < since {
		return 0
	}
	seen := 0
	for hour := since; hour <= min(until, h.Last); hour++ {
		if age := h.Last - hour; age < remembered && h.Seen[age/64]&(1<<(age%64)) != 0 {
			seen++
		}
	}
	return float64(seen) / float64(until-since+1)
}
