package history

import (
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

// Steady has what containers used over longer times than a sample takes: a distribution of the means of CPU, and one of
// the peaks of memory, in slots. A container that works in bursts of seconds uses nothing in most samples, but has the
// same mean in most slots. Each slot of each pod counts once, when a sample of a later one comes.
type Steady struct {
	CPU, Memory histogram.Histogram
	// CPUSince and MemorySince are when the first slot ended; zero without slots.
	CPUSince, MemorySince time.Time
}

// slots are the open slots of a pod; without an end while there is none.
type slots struct {
	cpu, memory Period
	// sum adds up samples of CPU times their lengths, length adds up these lengths, and peak is the highest usage of memory.
	sum, length float64
	peak        int64
}

// steady notes a sample that counts.
func (w *Window) steady(s *Sample, options *Options, shapes Shapes) {
	length := options.SteadyCPU
	if s.Resource == Memory {
		length = options.SteadyMemory
	}
	if length <= 0 {
		return
	}
	if w.slots == nil {
		w.slots = &slots{}
	}
	if w.series.Steady == nil {
		w.series.Steady = &Steady{CPU: histogram.New(shapes.CPU), Memory: histogram.New(shapes.Memory)}
	}
	of := &w.slots.cpu
	if s.Resource == Memory {
		of = &w.slots.memory
	}
	// A sample belongs to the slot of its middle, and one of a moment at the end of a slot to that one.
	middle := s.At.Add(-s.Length/2 - 1)
	switch {
	case middle.Before(of.From):
		return // It comes late.
	case !middle.Before(of.Until):
		w.close(s.Resource)
		from := middle.Truncate(length)
		*of = Period{from, from.Add(length)}
	}
	if s.Resource == Memory {
		w.slots.peak = max(w.slots.peak, s.Usage)
		return
	}
	weight := max(s.Length, time.Second).Seconds()
	w.slots.sum += weight * float64(s.Usage) / 1000
	w.slots.length += weight
}

// close counts an open slot.
func (w *Window) close(resource Resource) {
	to := w.series.Steady
	if resource == Memory {
		if at := w.slots.memory.Until; !at.IsZero() {
			to.Memory.Add(float64(w.slots.peak), peakWeight, at)
			earliest(&to.MemorySince, at)
		}
		w.slots.peak = 0
		return
	}
	if at := w.slots.cpu.Until; !at.IsZero() {
		to.CPU.Add(w.slots.sum/w.slots.length, cpuWeight, at)
		earliest(&to.CPUSince, at)
	}
	w.slots.sum, w.slots.length = 0, 0
}

// earliest makes a time the given one if that is earlier, or if there is none.
func earliest(since *time.Time, at time.Time) {
	if since.IsZero() || at.Before(*since) {
		*since = at
	}
}

// follow makes future slots decay with the shapes.
func (s *Steady) follow(shapes Shapes, now time.Time) {
	if s != nil {
		s.CPU.Follow(shapes.CPU, now)
		s.Memory.Follow(shapes.Memory, now)
	}
}

// move makes all slots newer by a time, or older if it is negative.
func (s *Steady) move(by time.Duration) {
	if s != nil {
		s.CPU.Move(by)
		s.Memory.Move(by)
	}
}
