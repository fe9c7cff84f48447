package history

import (
	"maps"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

// Checkpoint is the history of a container on one node type in the format of the VPA's checkpoints.
// Its JSON equals the status of a VerticalPodAutoscalerCheckpoint.
type Checkpoint struct {
	Updated time.Time            `json:"lastUpdateTime"`
	Version string               `json:"version"`
	CPU     histogram.Checkpoint `json:"cpuHistogram"`
	Memory  histogram.Checkpoint `json:"memoryHistogram"`
	First   *time.Time           `json:"firstSampleStart"`
	Last    *time.Time           `json:"lastSampleStart"`
	Samples int                  `json:"totalSamplesCount,omitempty"`
}

// Checkpoint returns the history of a container on a node type, and whether there is one. As in the
// VPA, it leaves out the peaks of windows that are open at the given time.
func (h *History) Checkpoint(c Container, nodeType string, now time.Time) (Checkpoint, bool) {
	r := h.containers[c]
	if r == nil {
		return Checkpoint{}, false
	}
	for _, s := range r.Types {
		if s.NodeType != nodeType {
			continue
		}
		memory := s.Memory.Clone()
		// The order decides about the last bit of the total.
		for _, id := range slices.Sorted(maps.Keys(r.Windows)) {
			if w := r.Windows[id]; w.series == s && now.Before(w.End) {
				memory.Subtract(float64(w.highest()), peakWeight, w.End)
			}
		}
		return Checkpoint{
			Updated: now.UTC().Truncate(time.Second), Version: "v3", CPU: s.CPU.Checkpoint(), Memory: memory.Checkpoint(),
			First: seconds(s.First), Last: seconds(s.Last), Samples: s.Samples,
		}, true
	}
	return Checkpoint{}, false
}

// seconds returns a time without fractions of a second; nil for no time.
func seconds(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC().Truncate(time.Second)
	return &at
}
