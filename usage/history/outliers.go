package history

import (
	"math"
	"time"
)

// Outliers returns the pods of a container that used more memory within the last seven days than the given amount
// for their node type, and how much. Percentiles of all pods do not show what one of many needs, such as a leader.
// Without replicas, no pod becomes an outlier: the whole history is its own. One that was an outlier stays one when its
// replicas end, since they stay in the history, and while the amount is unknown (math.MaxInt64). Until the next call, these
// are pods whose Peaks are known to those who store the state.
func (h *History) Outliers(c Container, replicas bool, least func(nodeType string) int64, now time.Time) (peaks map[PodID]int64) {
	r := h.containers[c]
	if r == nil {
		return nil
	}
	of, than := "", int64(0)
	for id, w := range r.Windows {
		if than == 0 || w.NodeType != of {
			of, than = w.NodeType, max(1, least(w.NodeType))
		}
		peak := w.own.Highest(now)
		more := peak > than || than == math.MaxInt64 && w.outlier && peak > 0
		w.replica = w.replica || replicas
		if w.outlier = (replicas || w.outlier) && more; w.outlier {
			if peaks == nil {
				peaks = map[PodID]int64{}
			}
			peaks[id] = peak
		}
	}
	return peaks
}

// Peaks returns the highest usage of memory of each of the last days, and whether it must be stored: the pod is one of the
// Outliers, or may become one because of a peak that its windows do not show.
func (w *Window) Peaks() (own Days, stored bool) {
	return w.own, w.outlier || w.replica && float64(w.own.highest()) > forgotten*float64(max(w.Peak, w.Past.Peak))
}

// forgotten is how many times as high as in the windows of a pod a peak is that would be missed.
const forgotten = 1.25

// SetPeaks sets Peaks that were stored.
func (w *Window) SetPeaks(own Days) { w.own, w.outlier, w.replica = own, true, true }

// recall notes the peaks of the windows: of a pod that is not one of the Outliers, only these are stored.
func (w *Window) recall() {
	at := w.End.Add(-1)
	if w.Memory.Before(at) {
		at = w.Memory
	}
	w.own.Note(at, w.Peak)
	w.own.Note(w.Past.End.Add(-1), w.Past.Peak)
}
