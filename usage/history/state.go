package history

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

// State is the history of one container, with its open windows, so that a reader of what is stored continues
// where the writer stopped.
type State struct {
	Shapes Shapes
	// Types has one series per node type, in alphabetical order.
	Types []*Series
	// Windows has the state of each pod, by ID.
	Windows map[PodID]*Window
	// Version is what its pods were created from.
	Version Version
	// Unknown is what a later version of workload-resizer has stored of the container, which this one does not know.
	Unknown []byte
}

// peaks is the index in Series.Hours of the hours with peaks of memory, after those of the resources.
const peaks = 2

// Series is what a container used on one node type.
type Series struct {
	NodeType    string
	CPU, Memory histogram.Histogram
	// Pressed counts CPU samples with the time that the container waited; nil while no sample
	// has a pressure.
	Pressed *histogram.Histogram
	// First, Last and Samples count CPU samples only, as in the VPA. Heard is the time of the last
	// sample of any resource.
	First, Last, Heard time.Time
	Samples            int
	// Hours are those with samples of CPU and memory, and those with peaks of memory.
	Hours [3]Hours
	// Throttled has the weights of throttled samples, in one bucket.
	Throttled histogram.Histogram
	// Week is nil if the peaks of hours are not kept.
	Week *Week
	// Steady is nil if no slots are kept. It is not stored.
	Steady *Steady
	// Floors are nil while no size was seen to be too small.
	Floors *Floors
	// Peaks has the highest usage of memory of each of the last days, by any pod. A killed container counts as having used
	// its limit.
	Peaks Days
	// Runs are the newest days on which pods ended with success, the newest first; nil unless those who know pods say so.
	Runs []RunDay
	// Unknown is what a later version has stored of the node type.
	Unknown []byte
}

// Find returns where the series of a node type is, or would be.
func (r *State) Find(nodeType string) (i int, found bool) {
	return slices.BinarySearchFunc(r.Types, nodeType, func(s *Series, name string) int { return strings.Compare(s.NodeType, name) })
}

// State returns the history of a container; nil if there is none. It is valid until the history changes, and
// must not be changed.
func (h *History) State(c Container) *State { return h.containers[c] }

// ErrState means that no history has a state.
var ErrState = errors.New("not a history that this version can read")

const (
	// mostSources is how many sources there are at most.
	mostSources = math.MaxUint8 + 1
	// latest is a time that no sample has, in seconds since 1970: nanoseconds have to fit in 64 bits.
	latest = math.MaxInt64 / int64(time.Second)
)

// Restore replaces what is known of a container with a state, which must not be used after that. After an
// error, nothing has changed.
func (h *History) Restore(c Container, r *State, now time.Time) error {
	newest, wrong := h.newest, r.Shapes.CPU.HalfLife <= 0 || r.Shapes.Memory.HalfLife <= 0
	for i, s := range r.Types {
		for _, hours := range s.Hours {
			wrong = wrong || hours.First < 0 || hours.First > latest || hours.Last < 0 || hours.Last > latest/3600
		}
		wrong = wrong || s.Samples < 0 || i > 0 && r.Types[i-1].NodeType >= s.NodeType
		wrong = wrong || s.Week != nil && (implausible(s.Week.CPU[:]...) || implausible(s.Week.Memory[:]...))
		wrong = wrong || implausibleRuns(s.Runs)
		if newest.Before(s.Heard) && !s.Heard.After(now.Add(Skew)) {
			newest = s.Heard
		}
		if s.Peaks == (Days{}) { // An earlier version has not stored them. Nothing that is known was higher.
			s.Peaks.Note(s.Heard, int64(histogram.Percentile(1, histogram.Part{Histogram: &s.Memory, Factor: 1})))
		}
	}
	for _, w := range r.Windows {
		i, found := r.Find(w.NodeType)
		if !found || len(w.CPU) > mostSources || implausible(w.Peak, w.KillPeak, w.Past.Peak, w.Past.KillPeak) {
			return ErrState
		}
		w.series = r.Types[i]
		w.peaks = w.series.Hours[peaks].has(w.Memory)
		w.recall()
	}
	if wrong {
		return ErrState
	}
	h.containers[c], h.newest = r, newest
	return nil
}

// implausible reports whether one of the numbers cannot be a usage.
func implausible(usage ...int64) bool {
	return slices.Min(usage) < 0 || slices.Max(usage) > most
}
