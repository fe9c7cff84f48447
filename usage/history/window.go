package history

import "time"

// window is the state of one pod's container: its current window of memory, and its last samples.
type window struct {
	series *series
	// end is the end of the window of memory peaks.
	end time.Time
	// peak is the highest usage in the window, and killPeak the highest that follows from kills.
	peak, killPeak int64
	// cpu and memory are the times of the last samples, and killed that of the last kill.
	cpu, memory, killed time.Time
}

// window returns the state of a pod. If its node has another type than before, its window
// continues there: what was counted on the other node type stays.
func (r *record) window(p Pod) *window {
	w := r.windows[p.UID]
	if w == nil {
		w = &window{series: r.series(p.NodeType)}
		r.windows[p.UID] = w
	}
	if w.series.nodeType != p.NodeType {
		w.series, w.peak, w.killPeak, w.end = r.series(p.NodeType), 0, 0, time.Time{}
	}
	return w
}

// highest returns the peak that the window has in the distribution.
func (w *window) highest() int64 { return max(w.peak, w.killPeak) }

// addMemory counts a usage of memory: the peak of each window counts once, as of the window's end.
func (w *window) addMemory(at time.Time, usage int64, kill bool, options *Options) {
	w.memory = at
	if w.end.IsZero() {
		w.end = at
	}
	if at.Before(w.end) {
		highest := w.highest()
		if highest == 0 {
			return // As in the VPA: nothing counts of a window that begins with nothing.
		}
		if usage <= highest {
			if !kill && !options.Compat {
				w.peak = max(w.peak, usage)
			}
			return
		}
		w.series.memory.Subtract(float64(highest), peakWeight, w.end)
	} else {
		w.end = w.end.Add(at.Sub(w.end).Truncate(options.Interval) + options.Interval)
		w.peak, w.killPeak = 0, 0
	}
	w.series.memory.Add(float64(usage), peakWeight, w.end)
	if kill {
		w.killPeak = usage
	} else {
		w.peak = usage
	}
}
