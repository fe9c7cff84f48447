package checkpoint

import (
	"maps"
	"math"
	"slices"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// packRuns returns the message of runs; nil if none is known.
func packRuns(all []history.RunDay) *storedv2.Runs {
	if len(all) == 0 {
		return nil
	}
	m := &storedv2.Runs{}
	for _, d := range all {
		m.Days = append(m.Days, d.Day)
		m.Runs = append(m.Runs, uint32(d.Runs))
		m.Peaks = append(m.Peaks, uint32(d.Peaks))
		m.PeakBytes = append(m.PeakBytes, packBytes(d.Peak))
	}
	return m
}

// unpackRuns returns the runs of a message, which may be nil.
func unpackRuns(m *storedv2.Runs) (all []history.RunDay, err error) {
	count := func(n uint32) int32 { return int32(min(n, math.MaxInt32)) }
	for i, day := range m.GetDays()[:min(len(m.GetDays()), history.RunDays)] {
		if min(len(m.Runs), len(m.Peaks), len(m.PeakBytes)) <= i {
			return nil, errIncomplete
		}
		all = append(all, history.RunDay{Day: day, Runs: count(m.Runs[i]), Peaks: count(m.Peaks[i]), Peak: unpackBytes(m.PeakBytes[i])})
	}
	return all, nil
}

// packRan returns the IDs of the pods whose runs are known.
func packRan(s *history.State) (ids []byte) {
	for _, id := range slices.Sorted(maps.Keys(s.Windows)) {
		if s.Windows[id].Ran {
			ids = appendID(ids, id)
		}
	}
	return ids
}

// unpackRan notes these pods in a history.
func unpackRan(ids []byte, s *history.State) {
	for i := range len(ids) / history.IDBytes {
		if w := s.Windows[idAt(ids, i)]; w != nil {
			w.Ran = true
		}
	}
}
