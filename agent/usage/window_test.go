package usage

import (
	"math"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/cgroup"
)

const mib = 1 << 20

func known(n int64) cgroup.Count { return cgroup.Count{N: n, Known: true} }

// memory returns a reading of memory, in MiB.
func memory(current, inactive, peak, faulted int64) cgroup.Reading {
	return cgroup.Reading{CPU: known(0), Memory: known(current * mib), Inactive: known(inactive * mib), Peak: known(peak * mib), Faulted: known(faulted * mib)}
}

// unknown returns a reading without some of its values.
func unknown(r cgroup.Reading, forget func(*cgroup.Reading)) cgroup.Reading {
	forget(&r)
	return r
}

func TestMemory(t *testing.T) {
	for _, tc := range []struct {
		name     string
		readings []cgroup.Reading
		want     int64 // In MiB; -1 means unknown.
	}{
		{"is the highest working set of all readings", []cgroup.Reading{memory(100, 0, 300, 0), memory(250, 50, 300, 0), memory(100, 0, 300, 0)}, 200},
		{"includes a new peak between two readings", []cgroup.Reading{memory(100, 0, 150, 100), memory(100, 0, 400, 400)}, 400},
		{"does not include an old peak", []cgroup.Reading{memory(100, 0, 400, 100), memory(100, 0, 400, 900)}, 100},
		{"does not include the page cache of a new peak", []cgroup.Reading{memory(150, 50, 150, 100), memory(180, 80, 400, 900)}, 320},
		{"does not include a file that was written and deleted", []cgroup.Reading{memory(100, 0, 150, 100), memory(100, 0, 400, 101)}, 101},
		{"is not lower for an estimate below the readings", []cgroup.Reading{memory(100, 0, 150, 100), memory(200, 200, 210, 100)}, 100},
		{"is unknown without memory.current", []cgroup.Reading{{CPU: known(0)}, {CPU: known(0)}}, -1},
		{"is unknown without memory.stat", []cgroup.Reading{unknown(memory(100, 0, 150, 0), func(r *cgroup.Reading) { r.Inactive = cgroup.Count{} })}, -1},
		{
			"ignores a new peak without faults", []cgroup.Reading{
				unknown(memory(100, 0, 150, 0), func(r *cgroup.Reading) { r.Faulted = cgroup.Count{} }), memory(100, 0, 400, 400),
			}, 100,
		},
		{
			"ignores a first peak without one before it", []cgroup.Reading{
				unknown(memory(100, 0, 0, 0), func(r *cgroup.Reading) { r.Peak = cgroup.Count{} }), memory(100, 0, 400, 400),
			}, 100,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			now := time.Now()
			w := begin(cgroup.Container{}, now, tc.readings[0])
			for i, r := range append(tc.readings[1:], tc.readings[len(tc.readings)-1]) {
				w.add(now.Add(time.Duration(i+1)*time.Second), r)
			}
			u, ok := w.fold()
			if got := inMiB(u.Memory); !ok || got != tc.want {
				t.Errorf("got %d MiB, want %d", got, tc.want)
			}
		})
	}
}

func TestCharged(t *testing.T) {
	for _, tc := range []struct {
		name     string
		readings []cgroup.Reading
		want     int64 // In MiB; -1 means unknown.
	}{
		{"is the most of all readings, with the page cache", []cgroup.Reading{memory(100, 0, 300, 0), memory(250, 200, 300, 0), memory(100, 0, 300, 0)}, 250},
		{"is known without memory.stat", []cgroup.Reading{unknown(memory(100, 0, 150, 0), func(r *cgroup.Reading) { r.Inactive = cgroup.Count{} })}, 100},
		{"is unknown without memory.current", []cgroup.Reading{unknown(memory(100, 0, 150, 0), func(r *cgroup.Reading) { r.Memory = cgroup.Count{} })}, -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			now := time.Now()
			w := begin(cgroup.Container{}, now, tc.readings[0])
			for i, r := range append(tc.readings[1:], tc.readings[len(tc.readings)-1]) {
				w.add(now.Add(time.Duration(i+1)*time.Second), r)
			}
			if u, ok := w.fold(); !ok || inMiB(u.Charged) != tc.want {
				t.Errorf("got %d MiB, want %d", inMiB(u.Charged), tc.want)
			}
			w.add(now.Add(time.Minute), memory(50, 0, 300, 0))
			if u, ok := w.fold(); !ok || inMiB(u.Charged) != 50 {
				t.Errorf("got %d MiB in the next minute", inMiB(u.Charged))
			}
		})
	}
}

func inMiB(bytes *int64) int64 {
	if bytes == nil {
		return -1
	}
	return *bytes / mib
}

func TestWindow(t *testing.T) {
	t.Run("computes means and shares", computesMeansAndShares)
	t.Run("begins again after a usage", beginsAgainAfterAUsage)
	t.Run("counts what a group counted that was created again", countsAGroupThatWasCreatedAgain)
	t.Run("takes a container that rarely runs for little throttled", takesAContainerThatRarelyRunsForLittleThrottled)
	t.Run("knows nothing that was not counted", knowsNothingThatWasNotCounted)
}

// counters returns a reading of all counters.
func counters(cpu, periods, throttled, cpuWait, memoryWait, limited int64) cgroup.Reading {
	return cgroup.Reading{
		CPU: known(cpu), Periods: known(periods), Throttled: known(throttled), CPUWait: known(cpuWait), MemoryWait: known(memoryWait), Limited: known(limited),
	}
}

func computesMeansAndShares(t *testing.T) {
	now := time.Now()
	w := begin(cgroup.Container{PodUID: "u", ID: "i"}, now, counters(1_000_000, 100, 10, 5_000_000, 1_000_000, 3))
	w.add(now.Add(20*time.Second), counters(2_000_000, 200, 20, 6_000_000, 1_000_000, 3))
	w.add(now.Add(time.Minute), counters(31_000_000, 500, 110, 35_000_000, 7_000_000, 8))
	u, ok := w.fold()
	if !ok || u.PodUID != "u" || u.ContainerID != "i" || !u.End.Equal(now.Add(time.Minute)) || u.Duration != time.Minute {
		t.Fatalf("got %+v", u)
	}
	if u.CPU == nil || *u.CPU != 0.5 || u.Memory != nil || *u.Throttled != 0.25 || *u.CPUPressure != 0.5 || *u.MemoryPressure != 0.1 || *u.LimitEvents != 5 {
		t.Errorf("got %v cores, %+v", *u.CPU, u)
	}
}

func beginsAgainAfterAUsage(t *testing.T) {
	now := time.Now()
	w := begin(cgroup.Container{}, now, memory(100, 0, 100, 0))
	w.add(now.Add(time.Minute), memory(50, 0, 100, 0))
	if u, ok := w.fold(); !ok || inMiB(u.Memory) != 100 {
		t.Errorf("first: got %+v", u)
	}
	if u, ok := w.fold(); ok {
		t.Errorf("without a reading: got %+v", u)
	}
	w.add(now.Add(2*time.Minute), memory(60, 0, 100, 0))
	if u, ok := w.fold(); !ok || inMiB(u.Memory) != 60 || u.Duration != time.Minute {
		t.Errorf("second: got %+v", u)
	}
}

func countsAGroupThatWasCreatedAgain(t *testing.T) {
	now := time.Now()
	w := begin(cgroup.Container{}, now, counters(9_000_000, 100, 90, 9_000_000, 0, 9))
	w.add(now.Add(10*time.Second), counters(2_000_000, 10, 5, 1_000_000, 0, 1))
	u, _ := w.fold()
	if *u.CPU != 0.2 || *u.Throttled != 0.5 || math.Abs(*u.CPUPressure-0.1) > 1e-9 || *u.LimitEvents != 1 {
		t.Errorf("got %v cores, %+v", *u.CPU, u)
	}
}

// A burst every minute may be all that a container does: all of its few periods are throttled.
func takesAContainerThatRarelyRunsForLittleThrottled(t *testing.T) {
	now := time.Now()
	for _, tc := range []struct {
		periods, throttled int64
		want               float64
	}{{3, 3, 0.05}, {30, 30, 0.5}, {60, 45, 0.75}, {120, 30, 0.25}} {
		w := begin(cgroup.Container{}, now, counters(0, 0, 0, 0, 0, 0))
		w.add(now.Add(time.Minute), counters(0, tc.periods, tc.throttled, 0, 0, 0))
		if u, _ := w.fold(); *u.Throttled != tc.want {
			t.Errorf("%d of %d: %v, want %v", tc.throttled, tc.periods, *u.Throttled, tc.want)
		}
	}
}

func knowsNothingThatWasNotCounted(t *testing.T) {
	now := time.Now()
	w := begin(cgroup.Container{}, now, cgroup.Reading{})
	w.add(now.Add(time.Minute), cgroup.Reading{})
	if u, ok := w.fold(); !ok || u.CPU != nil || u.Memory != nil || u.Charged != nil || u.Throttled != nil || u.CPUPressure != nil || u.MemoryPressure != nil || u.LimitEvents != nil {
		t.Errorf("got %+v", u)
	}
}
