package history

import (
	"cmp"
	"slices"
	"time"
)

// RunDay is a day on which pods of a container ended with success, of which usage is known.
type RunDay struct {
	// Day is when they were measured last, in days since 1970.
	Day int32
	// Runs is how many there are, and Peaks of how many of them the peaks of memory are known, not only usage at moments.
	Runs, Peaks int32
	// Peak is the highest usage of memory of them all, in bytes.
	Peak int64
}

// RunDays is how many days with runs are remembered: as many as there are runs that prove a size, so that one run a day is
// enough. How long ago they are does not matter while the history is kept.
const RunDays = 10

// RecordRun counts that a pod of a container has ended with success, once. A run proves nothing unless CPU and memory were
// measured in it, nor does one of a different version than the one that is followed.
func (h *History) RecordRun(c Container, uid string, version uint64) {
	r := h.containers[c]
	if r == nil || version != 0 && r.Version.Hash != 0 && version != r.Version.Hash {
		return
	}
	w := r.Windows[IDOf(uid)]
	if w == nil || w.Ran || w.Memory.IsZero() || w.measured().IsZero() {
		return
	}
	w.Ran = true
	w.series.ran(dayOf(w.Memory), w.peaks && w.series.Hours[peaks].has(w.Memory), w.own.highest())
}

// ran notes a run.
func (s *Series) ran(day int32, peaks bool, peak int64) {
	i, found := slices.BinarySearchFunc(s.Runs, day, func(d RunDay, day int32) int { return cmp.Compare(day, d.Day) })
	if !found {
		s.Runs = slices.Insert(s.Runs, i, RunDay{Day: day})
	}
	of := &s.Runs[i]
	of.Runs++
	if peaks {
		of.Peaks++
	}
	of.Peak = max(of.Peak, peak)
	s.Runs = s.Runs[:min(len(s.Runs), RunDays)]
}

// late notes a sample of memory that came after the run of its pod was counted: of the newest day, so that it is remembered
// for long enough.
func (w *Window) late(usage int64) {
	if w.Ran && len(w.series.Runs) > 0 {
		of := &w.series.Runs[0]
		of.Peak = max(of.Peak, usage)
	}
}

// has reports whether there was a sample in the hour of a time.
func (h *Hours) has(at time.Time) bool {
	age := h.Last - hourOf(at)
	return age >= 0 && age < remembered && h.Seen[age/64]&(1<<(age%64)) != 0
}

// forgetRuns forgets the runs of an earlier version.
func (r *State) forgetRuns() {
	for _, s := range r.Types {
		s.Runs = nil
	}
}

// rewindRuns makes the days today that lie in the future.
func (s *Series) rewindRuns(now time.Time) {
	for i := range s.Runs {
		s.Runs[i].Day = min(s.Runs[i].Day, dayOf(now))
	}
}

// implausibleRuns reports whether no history has these runs.
func implausibleRuns(all []RunDay) bool {
	wrong := len(all) > RunDays
	for i, d := range all {
		wrong = wrong || d.Day < 0 || d.Peaks < 0 || d.Runs < d.Peaks || implausible(d.Peak) || i > 0 && all[i-1].Day < d.Day
	}
	return wrong
}
