package history

import (
	"hash/fnv"
	"time"
)

// Window is the state of one pod's container: its newest windows of memory, and its last samples.
type Window struct {
	// NodeType is the type of the pod's node.
	NodeType string
	series   *Series
	// Span is the window of the newest measurement, and Past the newest one before. Measurements
	// that come late may belong to it, or begin one between both.
	Span
	Past Span
	// CPU has the progress of each source, by its rank.
	CPU []Progress
	// Memory is the time of the newest sample, and Killed that of the last kill.
	Memory, Killed time.Time
	// own has the highest usage of memory of each of the last days, and outlier means that others of the workload
	// use less by far. replica means that there were others.
	own              Days
	outlier, replica bool
	// peaks means that peaks of its memory were measured. That is not stored: of a restored window, those of any pod count.
	peaks bool
	// Ran means that the pod has ended with success, and that this is one of the runs of the history.
	Ran bool
	// slots are open; nil if none are kept.
	slots *slots
}

// Span is a window of memory.
type Span struct {
	End time.Time
	// Peak is the highest usage in the window, and KillPeak the highest that follows from kills.
	Peak, KillPeak int64
}

// PodID distinguishes the pods of a container. It is a hash of the UID, which takes seven times as
// many bytes.
type PodID uint64

// IDBytes is how many bytes of a PodID are used, the lowest ones.
const IDBytes = 5

// IDOf returns the ID of a pod.
func IDOf(uid string) PodID {
	h := fnv.New64a()
	h.Write([]byte(uid))
	return PodID(h.Sum64() & (1<<(8*IDBytes) - 1))
}

// window returns the state of a pod. If its node has another type than before, its window
// continues there: what was counted on the other node type stays.
func (r *State) window(p Pod) *Window {
	id := IDOf(p.UID)
	w := r.Windows[id]
	if w == nil {
		w = &Window{NodeType: p.NodeType, series: r.series(p.NodeType)}
		r.Windows[id] = w
	}
	if w.NodeType != p.NodeType {
		w.NodeType, w.series, w.Past, w.Span = p.NodeType, r.series(p.NodeType), Span{End: w.End}, Span{}
		w.slots = nil
	}
	return w
}

// highest returns the peak that the window has in the distribution.
func (s *Span) highest() int64 { return max(s.Peak, s.KillPeak) }

// addMemory counts a sample of memory, or returns why it cannot count. The highest usage of a window
// counts, so a sample that comes late, or from a second source, can only raise it.
func (w *Window) addMemory(s *Sample, options *Options) error {
	if options.Compat && s.At.Before(w.Memory) {
		return ErrRepeated // As in the VPA.
	}
	at, first := w.spanOf(s.At, options)
	if at == nil {
		return ErrRepeated
	}
	later := s.At.After(w.Memory)
	if later {
		w.Memory = s.At
	}
	if !w.count(at, first, s.Usage, false, options) && !later {
		return ErrRepeated
	}
	return nil
}

// addKill counts what a container needs because of a kill. Only in the VPA are samples before the
// kill outdated then.
func (w *Window) addKill(at time.Time, s *Span, first bool, needed int64, options *Options) {
	w.Killed = at
	if options.Compat {
		w.Memory = at
	}
	w.count(s, first, needed, true, options)
}

// spanOf returns the window of a time, and whether it begins now. It returns nil for a window of
// which it is no longer known what was counted.
func (w *Window) spanOf(at time.Time, options *Options) (s *Span, first bool) {
	switch {
	case w.End.IsZero():
		w.Span = Span{End: at.Add(options.Interval)}
		return &w.Span, true
	case !at.Before(w.End):
		w.Past = w.Span
		w.Span = Span{End: w.End.Add(at.Sub(w.End).Truncate(options.Interval) + options.Interval)}
		return &w.Span, true
	case options.Compat:
		return &w.Span, false // As in the VPA, which has only this one.
	}
	// A time at the end of a window belongs to the next one.
	end := w.End.Add(-(w.End.Sub(at) - 1).Truncate(options.Interval))
	switch {
	case end.Equal(w.End):
		return &w.Span, false
	case end.Equal(w.Past.End):
		return &w.Past, false
	case end.Before(w.Past.End):
		return nil, false
	}
	w.Past = Span{End: end}
	return &w.Past, true
}

// count counts a usage in its window: the peak of each window counts once, as of the window's end. It
// reports whether the distribution has changed.
func (w *Window) count(s *Span, first bool, usage int64, kill bool, options *Options) bool {
	if !first {
		highest := s.highest()
		if highest == 0 && !options.FromNothing {
			return false // As in the VPA: nothing counts of a window that begins with nothing.
		}
		if usage <= highest {
			if !kill && !options.Compat {
				s.Peak = max(s.Peak, usage)
			}
			return false
		}
		w.series.Memory.Subtract(float64(highest), peakWeight, s.End)
	}
	w.series.Memory.Add(float64(usage), peakWeight, s.End)
	if kill {
		s.KillPeak = usage
	} else {
		s.Peak = usage
	}
	return true
}
