package history

import "time"

// Overdue is how long after later measurements a measurement may come and still count. One that is
// older than all others may come at any time.
const Overdue = 3 * time.Hour

// fresh is how long after a sample of a preferred source other sources stand by. A Prometheus that is
// read every five minutes delivers an interval up to ten minutes after the one before.
const fresh = 15 * time.Minute

// Progress is the time in which the CPU samples of one source count, with one hole: the longest
// of the newest ones, which measurements that come late may fill.
type Progress struct {
	Period
	Hole Period
}

// Period is a time.
type Period struct{ From, Until time.Time }

// has reports whether a time is within the period.
func (p Period) has(at time.Time) bool { return at.After(p.From) && at.Before(p.Until) }

// covers reports whether a time has been counted.
func (p *Progress) covers(at time.Time) bool {
	return at.After(p.From) && !at.After(p.Until) && !p.Hole.has(at)
}

// advance notes a CPU sample, or returns why it cannot count. Each sample has a weight, so that no
// time may count twice: neither of one source, nor of two that measure the same container.
//
// The preferred source may always be later than another one. So what it delivers of a time that the
// other has counted shows that it is fresh, and the other stands by from then on.
func (w *Window) advance(s *Sample, options *Options) error {
	for len(w.CPU) <= int(s.Rank) {
		w.CPU = append(w.CPU, Progress{})
	}
	own, middle := &w.CPU[s.Rank], s.At.Add(-s.Length/2)
	late := !s.At.After(own.Until)
	early := late && middle.Before(own.From)
	if late && (options.Compat || !early && !own.Hole.has(middle)) { // The VPA takes nothing late.
		return ErrRepeated
	}
	for i := range w.CPU {
		if other := &w.CPU[i]; other != own && other.covers(middle) {
			if !late && i > int(s.Rank) {
				own.extend(s)
			}
			return ErrRepeated
		}
	}
	for _, preferred := range w.CPU[:s.Rank] {
		if s.At.After(preferred.Until) && !s.At.After(preferred.Until.Add(fresh)) {
			return ErrStandby
		}
	}
	switch {
	case early:
		own.precede(s)
	case late:
		own.Hole.From = s.At
	default:
		own.extend(s)
	}
	return nil
}

// precede notes a sample before all others: of a backfill that failed at first, while newer samples
// counted. The time between both is a hole.
func (p *Progress) precede(s *Sample) {
	if s.At.Before(p.From) {
		p.Hole = Period{s.At, p.From}
	}
	p.From = s.At.Add(-s.Length)
}

// extend notes a sample after all others.
func (p *Progress) extend(s *Sample) {
	begin := s.At.Add(-s.Length)
	if p.Until.IsZero() {
		p.From = begin
	} else if hole := (Period{p.Until, begin}); hole.length() > s.Length/2 && (hole.length() >= p.Hole.length() || s.At.Sub(p.Hole.Until) > Overdue) {
		p.Hole = hole
	}
	p.Until = s.At
}

// length returns how long the period is.
func (p Period) length() time.Duration { return p.Until.Sub(p.From) }

// measured returns the time of the last sample of CPU.
func (w *Window) measured() (last time.Time) {
	for _, p := range w.CPU {
		if p.Until.After(last) {
			last = p.Until
		}
	}
	return last
}
