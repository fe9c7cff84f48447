package history

import (
	"hash/fnv"
	"time"
)

// window is the state of one pod's container: its newest windows of memory, and its last samples.
type window struct {
	series *series
	// span is the window of the newest measurement, and past the newest one before. Measurements
	// that come late may belong to it, or begin one between both.
	span
	past span
	// cpu has the progress of each source, by its rank.
	cpu []progress
	// memory is the time of the newest sample, and killed that of the last kill.
	memory, killed time.Time
}

// span is a window of memory.
type span struct {
	end time.Time
	// peak is the highest usage in the window, and killPeak the highest that follows from kills.
	peak, killPeak int64
}

// podID distinguishes the pods of a container. It is a hash of the UID, which takes seven times as
// many bytes.
type podID uint64

// idBytes is how many bytes of a podID are used.
const idBytes = 5

func idOf(uid string) podID {
	h := fnv.New64a()
	h.Write([]byte(uid))
	return podID(h.Sum64() & (1<<(8*idBytes) - 1))
}

// window returns the state of a pod. If its node has another type than before, its window
// continues there: what was counted on the other node type stays.
func (r *record) window(p Pod) *window {
	id := idOf(p.UID)
	w := r.windows[id]
	if w == nil {
		w = &window{series: r.series(p.NodeType)}
		r.windows[id] = w
	}
	if w.series.nodeType != p.NodeType {
		w.series, w.past, w.span = r.series(p.NodeType), span{end: w.end}, span{}
	}
	return w
}

// highest returns the peak that the window has in the distribution.
func (s *span) highest() int64 { return max(s.peak, s.killPeak) }

// addMemory counts a sample of memory, or returns why it cannot count. The highest usage of a window
// counts, so a sample that comes late, or from a second source, can only raise it.
func (w *window) addMemory(s *Sample, options *Options) error {
	if options.Compat && s.At.Before(w.memory) {
		return ErrRepeated // As in the VPA.
	}
	at, first := w.spanOf(s.At, options)
	if at == nil {
		return ErrRepeated
	}
	later := s.At.After(w.memory)
	if later {
		w.memory = s.At
	}
	if !w.count(at, first, s.Usage, false, options) && !later {
		return ErrRepeated
	}
	return nil
}

// addKill counts what a container needs because of a kill. Only in the VPA are samples before the
// kill outdated then.
func (w *window) addKill(at time.Time, s *span, first bool, needed int64, options *Options) {
	w.killed = at
	if options.Compat {
		w.memory = at
	}
	w.count(s, first, needed, true, options)
}

// spanOf returns the window of a time, and whether it begins now. It returns nil for a window of
// which it is no longer known what was counted.
func (w *window) spanOf(at time.Time, options *Options) (s *span, first bool) {
	switch {
	case w.end.IsZero():
		w.span = span{end: at.Add(options.Interval)}
		return &w.span, true
	case !at.Before(w.end):
		w.past = w.span
		w.span = span{end: w.end.Add(at.Sub(w.end).Truncate(options.Interval) + options.Interval)}
		return &w.span, true
	case options.Compat:
		return &w.span, false // As in the VPA, which has only this one.
	}
	// A time at the end of a window belongs to the next one.
	end := w.end.Add(-(w.end.Sub(at) - 1).Truncate(options.Interval))
	switch {
	case end.Equal(w.end):
		return &w.span, false
	case end.Equal(w.past.end):
		return &w.past, false
	case end.Before(w.past.end):
		return nil, false
	}
	w.past = span{end: end}
	return &w.past, true
}

// count counts a usage in its window: the peak of each window counts once, as of the window's end. It
// reports whether the distribution has changed.
func (w *window) count(s *span, first bool, usage int64, kill bool, options *Options) bool {
	if !first {
		highest := s.highest()
		if highest == 0 {
			return false // As in the VPA: nothing counts of a window that begins with nothing.
		}
		if usage <= highest {
			if !kill && !options.Compat {
				s.peak = max(s.peak, usage)
			}
			return false
		}
		w.series.memory.Subtract(float64(highest), peakWeight, s.end)
	}
	w.series.memory.Add(float64(usage), peakWeight, s.end)
	if kill {
		s.killPeak = usage
	} else {
		s.peak = usage
	}
	return true
}
