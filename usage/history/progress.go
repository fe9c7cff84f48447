package history

import "time"

// Overdue is how long after later measurements a measurement may come and still count. One that is
// older than all others may come at any time.
const Overdue = 3 * time.Hour

// fresh is how long after a sample of a preferred source other sources stand by. A Prometheus that is
// read every five minutes delivers an interval up to ten minutes after the one before.
const fresh = 15 * time.Minute

// progress is the time in which the CPU samples of one source count, with one hole: the longest
// of the newest ones, which measurements that come late may fill.
type progress struct {
	period
	hole period
}

// period is a time.
type period struct{ from, until time.Time }

// has reports whether a time is within the period.
func (p period) has(at time.Time) bool { return at.After(p.from) && at.Before(p.until) }

// covers reports whether a time has been counted.
func (p *progress) covers(at time.Time) bool {
	return at.After(p.from) && !at.After(p.until) && !p.hole.has(at)
}

// advance notes a CPU sample, or returns why it cannot count. Each sample has a weight, so that no
// time may count twice: neither of one source, nor of two that measure the same container.
//
// The preferred source may always be later than another one. So what it delivers of a time that the
// other has counted shows that it is fresh, and the other stands by from then on.
func (w *window) advance(s *Sample, options *Options) error {
	for len(w.cpu) <= int(s.Rank) {
		w.cpu = append(w.cpu, progress{})
	}
	own, middle := &w.cpu[s.Rank], s.At.Add(-s.Length/2)
	late := !s.At.After(own.until)
	early := late && middle.Before(own.from)
	if late && (options.Compat || !early && !own.hole.has(middle)) { // The VPA takes nothing late.
		return ErrRepeated
	}
	for i := range w.cpu {
		if other := &w.cpu[i]; other != own && other.covers(middle) {
			if !late && i > int(s.Rank) {
				own.extend(s)
			}
			return ErrRepeated
		}
	}
	for _, preferred := range w.cpu[:s.Rank] {
		if s.At.After(preferred.until) && !s.At.After(preferred.until.Add(fresh)) {
			return ErrStandby
		}
	}
	switch {
	case early:
		own.precede(s)
	case late:
		own.hole.from = s.At
	default:
		own.extend(s)
	}
	return nil
}

// precede notes a sample before all others: of a backfill that failed at first, while newer samples
// counted. The time between both is a hole.
func (p *progress) precede(s *Sample) {
	if s.At.Before(p.from) {
		p.hole = period{s.At, p.from}
	}
	p.from = s.At.Add(-s.Length)
}

// extend notes a sample after all others.
func (p *progress) extend(s *Sample) {
	begin := s.At.Add(-s.Length)
	if p.until.IsZero() {
		p.from = begin
	} else if hole := (period{p.until, begin}); hole.length() > s.Length/2 && (hole.length() >= p.hole.length() || s.At.Sub(p.hole.until) > Overdue) {
		p.hole = hole
	}
	p.until = s.At
}

// length returns how long the period is.
func (p period) length() time.Duration { return p.until.Sub(p.from) }

// measured returns the time of the last sample of CPU.
func (w *window) measured() (last time.Time) {
	for _, p := range w.cpu {
		if p.until.After(last) {
			last = p.until
		}
	}
	return last
}
