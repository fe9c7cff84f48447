package history

import (
	"maps"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

// History is what containers used. It is not safe for concurrent use.
type History struct {
	options    func(Container) Options
	containers map[Container]*State
	// newest is when the newest sample was taken. Its clock expires history: while all sources
	// fail, nothing expires.
	newest time.Time
}

// New returns an empty history. The options of a container may change.
func New(options func(Container) Options) *History {
	return &History{options: options, containers: map[Container]*State{}}
}

// weights of samples, as in the VPA.
const (
	cpuWeight  = 0.1
	peakWeight = 1
)

// Record counts a sample, or returns why it cannot count.
func (h *History) Record(c Container, s Sample, now time.Time) error {
	options := h.options(c)
	if err := s.check(now, options.Kept()); err != nil {
		return err
	}
	r := h.record(c, options, now)
	w := r.window(s.Pod)
	if s.Resource == CPU {
		err := w.advance(&s, &options)
		if err != nil {
			return err
		}
		w.addCPU(&s)
	} else {
		w.own.Note(s.At, s.Usage)
		w.series.Peaks.Note(s.At, s.Usage)
		w.late(s.Usage)
		if err := w.addMemory(&s, &options); err != nil {
			return err
		}
	}
	w.steady(&s, &options, r.Shapes)
	if options.Hours {
		w.series.hour(s.Resource, s.At, s.Usage)
	}
	w.series.Hours[s.Resource].mark(s.At)
	if s.Resource == Memory && s.Length > 0 {
		w.series.Hours[peaks].mark(s.At)
		w.peaks = true
	}
	if w.series.Heard.Before(s.At) {
		w.series.Heard = s.At
	}
	if h.newest.Before(s.At) {
		h.newest = s.At
	}
	return nil
}

// RecordKill counts a kill as a peak of memory, or returns why it cannot count.
func (h *History) RecordKill(c Container, k Kill, now time.Time) error {
	options := h.options(c)
	if err := k.check(now, options.Kept()); err != nil {
		return err
	}
	r := h.record(c, options, now)
	w := r.window(k.Pod)
	if !k.At.After(w.Killed) {
		return ErrRepeated
	}
	w.series.prove(&k, &options)
	// As in the VPA: the newest sample decides whether a kill is too old.
	if !w.Memory.IsZero() && k.At.Before(w.Memory.Add(-options.Interval)) {
		return ErrExpired
	}
	reached, peak := k.Limit, w.Peak
	if options.Compat {
		reached = k.Request
	} else if k.At.Before(w.End.Add(-options.Interval)) {
		peak = w.Past.Peak // A usage since then may be higher because the limit is.
	}
	used := max(k.Usage, reached, peak)
	if used == 0 {
		return ErrUnknown
	}
	s, first := w.spanOf(k.At, &options)
	if s == nil {
		return ErrExpired
	}
	w.addKill(k.At, s, first, k.needed(used, &options), &options)
	if w.series.Heard.Before(k.At) {
		w.series.Heard = k.At
	}
	return nil
}

// Forget releases what is known of a pod that has ended. What its containers used stays.
func (h *History) Forget(c Container, uid string) {
	if r := h.containers[c]; r != nil {
		delete(r.Windows, IDOf(uid))
	}
}

// Expire deletes the histories whose last sample is too old, by the clock of samples.
func (h *History) Expire(now time.Time) {
	if h.newest.Before(now) {
		now = h.newest
	}
	for c, r := range h.containers {
		options := h.options(c)
		old := func(at time.Time, after time.Duration) bool { return now.Sub(at) >= after }
		maps.DeleteFunc(r.Windows, func(_ PodID, w *Window) bool {
			return old(w.End, options.Kept()) && old(w.measured(), options.Kept())
		})
		r.Types = slices.DeleteFunc(r.Types, func(s *Series) bool {
			expired := old(s.Heard, options.Kept())
			if expired {
				maps.DeleteFunc(r.Windows, func(_ PodID, w *Window) bool { return w.series == s })
			}
			return expired
		})
		if len(r.Types) == 0 {
			delete(h.containers, c)
		}
	}
}

// Containers returns the containers that have a history, in no particular order.
func (h *History) Containers() []Container {
	return slices.AppendSeq(make([]Container, 0, len(h.containers)), maps.Keys(h.containers))
}

// Len returns how many containers have a history.
func (h *History) Len() int { return len(h.containers) }

// Compare orders containers by namespace, kind, workload and name.
func (c Container) Compare(d Container) int {
	return slices.Compare([]string{c.Namespace, c.Kind, c.Workload, c.Name}, []string{d.Namespace, d.Kind, d.Workload, d.Name})
}

// record returns the history of a container, which follows the options and the clock.
func (h *History) record(c Container, options Options, now time.Time) *State {
	r := h.containers[c]
	if r == nil {
		r = &State{Shapes: ShapesOf(options.CPUHalfLife, options.MemoryHalfLife), Windows: map[PodID]*Window{}}
		h.containers[c] = r
	}
	r.rewind(now)
	if r.Shapes.CPU.HalfLife != options.CPUHalfLife || r.Shapes.Memory.HalfLife != options.MemoryHalfLife {
		r.Shapes = ShapesOf(options.CPUHalfLife, options.MemoryHalfLife)
		for _, s := range r.Types {
			s.CPU.Follow(r.Shapes.CPU, now)
			s.Throttled.Follow(r.Shapes.CPU, now)
			s.Memory.Follow(r.Shapes.Memory, now)
			if s.Pressed != nil {
				s.Pressed.Follow(r.Shapes.CPU, now)
			}
			s.Steady.follow(r.Shapes, now)
		}
	}
	if limit := now.Add(Skew); h.newest.After(limit) {
		h.newest = limit
	}
	return r
}

// series returns the series of a node type.
func (r *State) series(nodeType string) *Series {
	i, found := r.Find(nodeType)
	if !found {
		r.Types = slices.Insert(r.Types, i, &Series{
			NodeType: nodeType, CPU: histogram.New(r.Shapes.CPU), Memory: histogram.New(r.Shapes.Memory),
			Throttled: histogram.New(r.Shapes.CPU),
		})
	}
	return r.Types[i]
}

// addCPU counts a CPU sample.
func (w *Window) addCPU(sample *Sample) {
	s, cores := w.series, float64(sample.Usage)/1000
	if sample.Pressure > 0 && s.Pressed == nil {
		s.Pressed = s.CPU.Clone()
	}
	s.CPU.Add(cores, cpuWeight, sample.At)
	if s.Pressed != nil {
		s.Pressed.Add(cores*(1+sample.Pressure), cpuWeight, sample.At)
	}
	if sample.Throttled {
		s.Throttled.Add(0, cpuWeight, sample.At)
	}
	if sample.At.After(s.Last) {
		s.Last = sample.At
	}
	if s.First.IsZero() || sample.At.Before(s.First) {
		s.First = sample.At
	}
	s.Samples++
}
