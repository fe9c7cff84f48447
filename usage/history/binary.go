package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

// format is the version of the binary form. A reader that does not know it must not guess.
const format = 1

// ErrFormat means that bytes are not a history, or one of a later version.
var ErrFormat = errors.New("not a history that this version can read")

// AppendContainer appends the history of a container to b, with its open windows, so that a reader
// continues where the writer stopped. It appends nothing if there is none.
func (h *History) AppendContainer(b []byte, c Container) []byte {
	r := h.containers[c]
	if r == nil {
		return b
	}
	w := writer(append(b, format))
	w.text(c.Namespace, c.Kind, c.Workload, c.Name)
	w.number(int64(r.halfLives.cpu.HalfLife), int64(r.halfLives.memory.HalfLife))
	w.hours(&r.hours)
	w.number(int64(len(r.types)))
	for _, s := range r.types {
		w.series(s)
	}
	w.number(int64(len(r.windows)))
	for _, uid := range slices.Sorted(maps.Keys(r.windows)) {
		win := r.windows[uid]
		w.text(uid, win.series.nodeType)
		w.time(win.end, win.cpu, win.memory, win.killed)
		w.number(win.peak, win.killPeak)
	}
	return w
}

// writer appends values to bytes.
type writer []byte

func (w *writer) text(all ...string) {
	for _, s := range all {
		*w = append(binary.AppendUvarint(*w, uint64(len(s))), s...)
	}
}

func (w *writer) number(all ...int64) {
	for _, n := range all {
		*w = binary.AppendVarint(*w, n)
	}
}

// time appends times with nanoseconds; no time is 0.
func (w *writer) time(all ...time.Time) {
	for _, at := range all {
		n := int64(0)
		if !at.IsZero() {
			n = at.UnixNano()
		}
		w.number(n)
	}
}

// hours appends hours. Those of memory are mostly the same as those of CPU.
func (w *writer) hours(all *[3]hours) {
	for i, h := range all {
		if i > 0 {
			if h == all[i-1] {
				w.number(1)
				continue
			}
			w.number(0)
		}
		w.number(h.first, h.last)
		for _, word := range h.seen {
			*w = binary.LittleEndian.AppendUint64(*w, word)
		}
	}
}

func (w *writer) series(s *series) {
	w.text(s.nodeType)
	w.time(s.first, s.last, s.heard)
	w.number(int64(s.samples))
	for _, h := range []*histogram.Histogram{&s.cpu, &s.memory, &s.throttled} {
		*w = h.AppendBinary(*w)
	}
	if s.pressed == nil {
		w.number(0)
	} else {
		w.number(1)
		*w = s.pressed.AppendBinary(*w)
	}
	if s.week == nil {
		w.number(0)
		return
	}
	w.number(1)
	for i := range hoursOfWeek {
		w.number(s.week.hour[i], s.week.cpu[i], s.week.memory[i])
	}
}

// ReadContainer reads the history of a container that AppendContainer wrote, replaces what is known
// of the container, and returns the bytes after it. After an error, nothing has changed.
func (h *History) ReadContainer(b []byte, now time.Time) (c Container, rest []byte, err error) {
	if len(b) == 0 || b[0] != format {
		return Container{}, nil, ErrFormat
	}
	rd := &reader{rest: b[1:]}
	c = Container{Namespace: rd.text(), Kind: rd.text(), Workload: rd.text(), Name: rd.text()}
	halfLives := shapes{
		cpu:    h.shape(histogram.CPU, time.Duration(rd.between(1, math.MaxInt64))),
		memory: h.shape(histogram.Memory, time.Duration(rd.between(1, math.MaxInt64))),
	}
	r := &record{halfLives: halfLives, windows: map[string]*window{}}
	rd.hours(&r.hours)
	newest := h.newest
	for range rd.between(0, mostListed) {
		s := rd.series(halfLives)
		if rd.err != nil {
			return Container{}, nil, rd.err
		}
		if n := len(r.types); n > 0 && r.types[n-1].nodeType >= s.nodeType {
			return Container{}, nil, fmt.Errorf("node types are not in order: %w", ErrFormat)
		}
		r.types = append(r.types, s)
		if newest.Before(s.heard) && !s.heard.After(now.Add(skew)) {
			newest = s.heard
		}
	}
	for range rd.between(0, mostListed) {
		uid, nodeType := rd.text(), rd.text()
		if rd.err != nil {
			break
		}
		w := &window{series: r.series(nodeType), end: rd.time(), cpu: rd.time(), memory: rd.time(), killed: rd.time()}
		w.peak, w.killPeak = rd.between(0, most), rd.between(0, most)
		r.windows[uid] = w
	}
	if rd.err != nil {
		return Container{}, nil, rd.err
	}
	h.containers[c], h.newest = r, newest
	return c, rd.rest, nil
}

// mostListed is more node types, or pods, than a container has.
const mostListed = 1 << 20

// reader takes values from bytes. After an error, it returns zeros.
type reader struct {
	rest []byte
	err  error
}

// fail ends the reading.
func (r *reader) fail() {
	r.rest, r.err = nil, ErrFormat
}

func (r *reader) text() string {
	n, used := binary.Uvarint(r.rest)
	if used <= 0 || n > uint64(len(r.rest)-used) {
		r.fail()
		return ""
	}
	s := string(r.rest[used : used+int(n)])
	r.rest = r.rest[used+int(n):]
	return s
}

func (r *reader) number() int64 {
	n, used := binary.Varint(r.rest)
	if used <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[used:]
	return n
}

// between reads a number and fails if it is not within the bounds.
func (r *reader) between(least, most int64) int64 {
	n := r.number()
	if r.err == nil && (n < least || n > most) {
		r.fail()
	}
	if r.err != nil {
		return least
	}
	return n
}

func (r *reader) word() uint64 {
	if len(r.rest) < 8 {
		r.fail()
		return 0
	}
	n := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return n
}

func (r *reader) time() time.Time {
	if n := r.number(); n != 0 {
		return time.Unix(0, n).UTC()
	}
	return time.Time{}
}

func (r *reader) histogram(shape *histogram.Shape) histogram.Histogram {
	if r.err != nil {
		return histogram.New(shape)
	}
	h, rest, err := histogram.FromBinary(shape, r.rest)
	if err != nil {
		r.fail()
		return h
	}
	r.rest = rest
	return h
}

func (r *reader) hours(all *[3]hours) {
	for i := range all {
		if i > 0 && r.between(0, 1) == 1 {
			all[i] = all[i-1]
			continue
		}
		all[i].first, all[i].last = r.number(), r.number()
		for word := range all[i].seen {
			all[i].seen[word] = r.word()
		}
	}
}

func (r *reader) series(halfLives shapes) *series {
	s := &series{nodeType: r.text(), first: r.time(), last: r.time(), heard: r.time()}
	s.samples = int(r.between(0, math.MaxInt32))
	s.cpu, s.memory, s.throttled = r.histogram(halfLives.cpu), r.histogram(halfLives.memory), r.histogram(halfLives.cpu)
	if r.between(0, 1) == 1 {
		pressed := r.histogram(halfLives.cpu)
		s.pressed = &pressed
	}
	if r.between(0, 1) == 1 {
		s.week = &week{}
		for i := range hoursOfWeek {
			s.week.hour[i], s.week.cpu[i], s.week.memory[i] = r.number(), r.between(0, most), r.between(0, most)
		}
	}
	return s
}
