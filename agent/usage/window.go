package usage

import (
	"time"

	"github.com/workload-resizer/workload-resizer/agent/cgroup"
)

// window is what a container has used since the last usage was made of it.
type window struct {
	cgroup.Container
	// from is when the window began, and at when the last reading was taken.
	from, at time.Time
	last     cgroup.Reading
	// grown is by how much the counters have grown since from. Its other values are unknown.
	grown cgroup.Reading
	// memory is the highest working set, and charged the most memory that was charged to the container.
	memory, charged cgroup.Count
	// urgent is how many usages may be reported before the period is over, and limited means that there was
	// a reason for it in this period.
	urgent  int
	limited bool
	// closest is the highest share of its limit that was reported before a period was over.
	closest float64
	// scan is the last search that found the container.
	scan uint64
}

// begin returns a window that begins with a reading: what the container used before is unknown.
func begin(c cgroup.Container, now time.Time, r cgroup.Reading) *window {
	return &window{Container: c, from: now, at: now, last: r, memory: r.WorkingSet(), charged: r.Memory, urgent: mostUrgent}
}

// beginAtCreation returns the window of a container that was created after since, with the first
// reading of it.
func beginAtCreation(c cgroup.Container, since, now time.Time, r cgroup.Reading) *window {
	w := &window{Container: c, from: since, at: since, last: r.AtCreation(), urgent: mostUrgent}
	w.add(now, r)
	return w
}

// leastPeriods is in how many periods of a second a container counts as running at least, of 10: one that
// rarely runs may be throttled whenever it does, for a moment.
const leastPeriods = 1

// add adds a reading.
func (w *window) add(now time.Time, r cgroup.Reading) {
	for _, counter := range []struct {
		sum         *cgroup.Count
		now, before cgroup.Count
	}{
		{&w.grown.CPU, r.CPU, w.last.CPU},
		{&w.grown.Periods, r.Periods, w.last.Periods},
		{&w.grown.Throttled, r.Throttled, w.last.Throttled},
		{&w.grown.CPUWait, r.CPUWait, w.last.CPUWait},
		{&w.grown.MemoryWait, r.MemoryWait, w.last.MemoryWait},
		{&w.grown.Limited, r.Limited, w.last.Limited},
	} {
		if grown := counter.now.Since(counter.before); grown.Known {
			*counter.sum = cgroup.Count{N: counter.sum.N + grown.N, Known: true}
		}
	}
	w.memory, w.charged = highest(w.memory, r.WorkingSet(), spike(&w.last, &r)), highest(w.charged, r.Memory)
	w.at, w.last = now, r
}

// highest returns the highest of the counts that are known.
func highest(counts ...cgroup.Count) (most cgroup.Count) {
	for _, c := range counts {
		if c.Known {
			most = cgroup.Count{N: max(most.N, c.N), Known: true}
		}
	}
	return most
}

// spike returns how high the working set was between two readings if the memory of the container
// reached a new peak. The peak has the page cache in it, which does not count as far as the kernel
// can easily take it back. How much that was at the peak is unknown: a file that is written and
// deleted between two readings leaves no other trace. So two estimates limit each other: the peak
// without the inactive pages before or after it, and the working set before it with all that page
// faults can have added. Neither reading files nor writing them causes faults.
func spike(before, now *cgroup.Reading) cgroup.Count {
	faulted, known := now.Faulted.Since(before.Faulted), before.WorkingSet()
	if !now.Peak.Known || !before.Peak.Known || !now.Inactive.Known || !faulted.Known || !known.Known || now.Peak.N <= before.Peak.N {
		return cgroup.Count{}
	}
	uncached := now.Peak.N - max(before.Inactive.N, now.Inactive.N)
	return cgroup.Count{N: max(min(uncached, known.N+faulted.N), 0), Known: true}
}

// fold returns the usage of the window, and begins the next one. There is none if the container was
// not read since the window began.
func (w *window) fold() (u Usage, ok bool) {
	took := w.at.Sub(w.from)
	if took <= 0 {
		return Usage{}, false
	}
	u = Usage{
		PodUID: w.PodUID, ContainerID: w.ID, End: w.at, Duration: took,
	}
	if w.grown.Throttled.Known && w.grown.Periods.Known {
		u.Throttled = new(share(w.grown.Throttled.N, max(w.grown.Periods.N, int64(took.Seconds()*leastPeriods))))
	}
	u.CPUPressure, u.MemoryPressure, u.LimitEvents = waited(w.grown.CPUWait, took), waited(w.grown.MemoryWait, took), pointer(w.grown.Limited)
	if w.grown.CPU.Known {
		u.CPU = new(float64(w.grown.CPU.N) / 1e6 / took.Seconds())
	}
	u.Memory, u.Charged = pointer(w.memory), pointer(w.charged)
	w.from, w.grown, w.memory, w.charged = w.at, cgroup.Reading{}, cgroup.Count{}, cgroup.Count{}
	if !w.limited {
		w.allowUrgent()
	}
	w.limited = false
	return u, true
}

// waited returns a part of a duration as a share; nil if it is unknown.
func waited(microseconds cgroup.Count, of time.Duration) *float64 {
	if !microseconds.Known {
		return nil
	}
	return new(share(microseconds.N, of.Microseconds()))
}

// pointer returns a number; nil if it is unknown.
func pointer(n cgroup.Count) *int64 {
	if !n.Known {
		return nil
	}
	return &n.N
}

// share returns a part of a whole, from 0 to 1: counters are read one after the other.
func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(float64(part)/float64(whole), 1)
}
