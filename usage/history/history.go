package history

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

// History is what containers used. It is not safe for concurrent use.
type History struct {
	options    func(Container) Options
	shapes     map[histogram.Shape]*histogram.Shape
	containers map[Container]*record
	// newest is when the newest sample was taken. Its clock expires history: while all sources
	// fail, nothing expires.
	newest time.Time
}

// New returns an empty history. The options of a container may change.
func New(options func(Container) Options) *History {
	return &History{options: options, shapes: map[histogram.Shape]*histogram.Shape{}, containers: map[Container]*record{}}
}

// record is the history of one container.
type record struct {
	halfLives shapes
	// types has one series per node type, in alphabetical order.
	types []*series
	// windows has the state of each pod, by ID.
	windows map[podID]*window
	// hours are those with samples of CPU and memory, and those with peaks of memory.
	hours [3]hours
}

// peaks is the index of the hours with peaks of memory, after those of the resources.
const peaks = 2

// series is what a container used on one node type.
type series struct {
	nodeType    string
	cpu, memory histogram.Histogram
	// pressed counts CPU samples with the time that the container waited; nil while no sample
	// has a pressure.
	pressed *histogram.Histogram
	// first, last and samples count CPU samples only, as in the VPA. heard is the time of the last
	// sample of any resource.
	first, last, heard time.Time
	samples            int
	// throttled has the weights of throttled samples, in one bucket.
	throttled histogram.Histogram
	week      *week
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
	} else if err := w.addMemory(&s, &options); err != nil {
		return err
	}
	if options.Hours {
		w.series.hour(s.Resource, s.At, s.Usage)
	}
	r.hours[s.Resource].mark(s.At)
	if s.Resource == Memory && s.Length > 0 {
		r.hours[peaks].mark(s.At)
	}
	if w.series.heard.Before(s.At) {
		w.series.heard = s.At
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
	if !k.At.After(w.killed) {
		return ErrRepeated
	}
	// As in the VPA: the newest sample decides whether a kill is too old.
	if !w.memory.IsZero() && k.At.Before(w.memory.Add(-options.Interval)) {
		return ErrExpired
	}
	reached, peak := k.Limit, w.peak
	if options.Compat {
		reached = k.Request
	} else if k.At.Before(w.end.Add(-options.Interval)) {
		peak = w.past.peak // A usage since then may be higher because the limit is.
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
	if w.series.heard.Before(k.At) {
		w.series.heard = k.At
	}
	return nil
}

// Forget releases what is known of a pod that has ended. What its containers used stays.
func (h *History) Forget(c Container, uid string) {
	if r := h.containers[c]; r != nil {
		delete(r.windows, idOf(uid))
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
		maps.DeleteFunc(r.windows, func(_ podID, w *window) bool {
			return old(w.end, options.Kept()) && old(w.measured(), options.Kept())
		})
		r.types = slices.DeleteFunc(r.types, func(s *series) bool {
			expired := old(s.heard, options.Kept())
			if expired {
				maps.DeleteFunc(r.windows, func(_ podID, w *window) bool { return w.series == s })
			}
			return expired
		})
		if len(r.types) == 0 {
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
func (h *History) record(c Container, options Options, now time.Time) *record {
	shapes := h.shapesOf(options)
	r := h.containers[c]
	if r == nil {
		r = &record{halfLives: shapes, windows: map[podID]*window{}}
		h.containers[c] = r
	}
	r.rewind(now)
	if r.halfLives != shapes {
		for _, s := range r.types {
			s.cpu.Follow(shapes.cpu, now)
			s.throttled.Follow(shapes.cpu, now)
			s.memory.Follow(shapes.memory, now)
			if s.pressed != nil {
				s.pressed.Follow(shapes.cpu, now)
			}
		}
		r.halfLives = shapes
	}
	if limit := now.Add(Skew); h.newest.After(limit) {
		h.newest = limit
	}
	return r
}

// series returns the series of a node type.
func (r *record) series(nodeType string) *series {
	i, found := slices.BinarySearchFunc(r.types, nodeType, func(s *series, name string) int {
		return strings.Compare(s.nodeType, name)
	})
	if !found {
		r.types = slices.Insert(r.types, i, &series{
			nodeType: nodeType, cpu: histogram.New(r.halfLives.cpu), memory: histogram.New(r.halfLives.memory),
			throttled: histogram.New(r.halfLives.cpu),
		})
	}
	return r.types[i]
}

// addCPU counts a CPU sample.
func (w *window) addCPU(sample *Sample) {
	s, cores := w.series, float64(sample.Usage)/1000
	if sample.Pressure > 0 && s.pressed == nil {
		s.pressed = s.cpu.Clone()
	}
	s.cpu.Add(cores, cpuWeight, sample.At)
	if s.pressed != nil {
		s.pressed.Add(cores*(1+sample.Pressure), cpuWeight, sample.At)
	}
	if sample.Throttled {
		s.throttled.Add(0, cpuWeight, sample.At)
	}
	if sample.At.After(s.last) {
		s.last = sample.At
	}
	if s.first.IsZero() || sample.At.Before(s.first) {
		s.first = sample.At
	}
	s.samples++
}
