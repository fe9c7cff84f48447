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
//
// A large cluster has many open windows, and the bytes of their IDs and times can hardly be compressed.
// So a window takes as few of them as possible, and what is equal in most windows is in one place.
func (h *History) AppendContainer(b []byte, c Container) []byte {
	r := h.containers[c]
	if r == nil {
		return b
	}
	w := &writer{bytes: append(b, format)}
	w.text(c.Namespace, c.Kind, c.Workload, c.Name)
	w.number(int64(r.halfLives.cpu.HalfLife), int64(r.halfLives.memory.HalfLife))
	w.hours(&r.hours)
	w.number(int64(len(r.types)))
	for _, s := range r.types {
		w.series(s)
	}
	w.windows(r)
	return w.bytes
}

// writer appends values to bytes.
type writer struct {
	bytes []byte
	// last is the time, in nanoseconds since 1970, from which the next one counts.
	last int64
}

func (w *writer) text(all ...string) {
	for _, s := range all {
		w.count(uint64(len(s)))
		w.bytes = append(w.bytes, s...)
	}
}

func (w *writer) count(n uint64) { w.bytes = binary.AppendUvarint(w.bytes, n) }

func (w *writer) number(all ...int64) {
	for _, n := range all {
		w.bytes = binary.AppendVarint(w.bytes, n)
	}
}

func (w *writer) word(n uint64) { w.bytes = binary.LittleEndian.AppendUint64(w.bytes, n) }

// time appends the seconds since the last time, multiplied by 4. It adds 1, or 2 if nanoseconds
// follow; 0 means no time.
func (w *writer) time(all ...time.Time) {
	for _, at := range all {
		if at.IsZero() {
			w.number(0)
			continue
		}
		w.duration(at.UnixNano() - w.last)
		w.since(at)
	}
}

// duration appends a duration, which is never 0 as a number.
func (w *writer) duration(d int64) {
	if seconds, rest := d/int64(time.Second), d%int64(time.Second); rest == 0 {
		w.number(4*seconds + 1)
	} else {
		w.number(4*seconds+2, rest)
	}
}

// since makes the next time count from this one, if it is a time.
func (w *writer) since(at time.Time) {
	if !at.IsZero() {
		w.last = at.UnixNano()
	}
}

// day is the usual length of a window of memory, in nanoseconds.
const day = int64(24 * time.Hour)

// days appends a time that mostly is about a number of days before the last one.
func (w *writer) days(at time.Time) {
	if at.IsZero() {
		w.number(0)
		return
	}
	d := at.UnixNano() - w.last
	days, rest := d/day, d%day
	switch {
	case rest > day/2:
		days, rest = days+1, rest-day
	case rest < -day/2:
		days, rest = days-1, rest+day
	}
	w.duration(rest)
	w.number(days)
}

// page is the unit in which kernels count memory.
const page = 4096

// memory appends pages, multiplied by 2. It adds 1 if bytes follow.
func (w *writer) memory(bytes int64) {
	if rest := bytes % page; rest == 0 {
		w.count(uint64(bytes / page * 2))
	} else {
		w.count(uint64(bytes/page*2 + 1))
		w.number(rest)
	}
}

// Flags of windows: what it has that others do not have.
const (
	hasPast = 1 << iota
	hasHoles
	hasKill
	// hasSources means that the number of sources is not one.
	hasSources
	flags
)

// windows appends the windows, one property of all after the other. Times count from the last sample on
// the node type, or from each other.
func (w *writer) windows(r *record) {
	ids := slices.Sorted(maps.Keys(r.windows))
	each := func(do func(win *window)) {
		for _, id := range ids {
			do(r.windows[id])
		}
	}
	w.count(uint64(len(ids)))
	each(func(win *window) { w.count(uint64(slices.Index(r.types, win.series)*flags + win.flags())) })
	for _, id := range ids {
		w.bytes = binary.LittleEndian.AppendUint64(w.bytes, uint64(id))[:len(w.bytes)+idBytes]
	}
	each(func(win *window) {
		w.since(win.series.heard)
		w.time(win.memory)
	})
	each(func(win *window) {
		w.since(win.memory)
		w.time(win.end)
	})
	each(func(win *window) { w.memory(win.peak) })
	each(func(win *window) {
		if win.flags()&hasPast != 0 {
			w.since(win.end)
			w.days(win.past.end)
			w.memory(win.past.peak)
		}
	})
	each(func(win *window) {
		if win.flags()&hasSources != 0 {
			w.count(uint64(len(win.cpu)))
		}
		for _, p := range win.cpu {
			w.since(win.memory)
			w.time(p.until)
			if win.flags()&hasHoles != 0 {
				w.time(p.hole.until, p.hole.from)
			}
			w.since(win.end)
			w.days(p.from)
		}
	})
	each(func(win *window) {
		if win.flags()&hasKill != 0 {
			w.time(win.killed)
			w.memory(win.killPeak)
			w.memory(win.past.killPeak)
		}
	})
}

// flags returns what the window has.
func (w *window) flags() (has int) {
	if w.past != (span{}) {
		has |= hasPast
	}
	if slices.ContainsFunc(w.cpu, func(p progress) bool { return p.hole != period{} }) {
		has |= hasHoles
	}
	if !w.killed.IsZero() || w.killPeak != 0 || w.past.killPeak != 0 {
		has |= hasKill
	}
	if len(w.cpu) != 1 {
		has |= hasSources
	}
	return has
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
			w.word(word)
		}
	}
}

func (w *writer) series(s *series) {
	w.text(s.nodeType)
	w.time(s.first, s.last, s.heard)
	w.number(int64(s.samples))
	for _, h := range []*histogram.Histogram{&s.cpu, &s.memory, &s.throttled} {
		w.bytes = h.AppendBinary(w.bytes)
	}
	if s.pressed == nil {
		w.number(0)
	} else {
		w.number(1)
		w.bytes = s.pressed.AppendBinary(w.bytes)
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
	r := &record{halfLives: halfLives, windows: map[podID]*window{}}
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
	rd.windows(r)
	if rd.err != nil {
		return Container{}, nil, rd.err
	}
	h.containers[c], h.newest = r, newest
	return c, rd.rest, nil
}

const (
	// mostListed is more node types, or pods, than a container has.
	mostListed = 1 << 20
	// mostSources is how many sources there are at most.
	mostSources = math.MaxUint8 + 1
	// leastWindow is how many bytes a window has at least.
	leastWindow = 10
	// latest is a time that no sample has, in seconds since 1970: nanoseconds have to fit in 64 bits.
	latest = math.MaxInt64 / int64(time.Second)
)

// reader takes values from bytes. After an error, it returns zeros.
type reader struct {
	rest []byte
	err  error
	// last is the time, in nanoseconds since 1970, from which the next one counts.
	last int64
}

// fail ends the reading.
func (r *reader) fail() {
	r.rest, r.err = nil, ErrFormat
}

func (r *reader) text() string {
	n := r.count()
	if n > uint64(len(r.rest)) {
		r.fail()
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

func (r *reader) count() uint64 {
	n, used := binary.Uvarint(r.rest)
	if used <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[used:]
	return n
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
	d, some := r.duration()
	if !some {
		return time.Time{}
	}
	r.last += d
	return time.Unix(0, r.last).UTC()
}

func (r *reader) duration() (d int64, some bool) {
	n := r.number()
	d = n >> 2 * int64(time.Second)
	switch n & 3 {
	case 1:
	case 2:
		d += r.between(1-int64(time.Second), int64(time.Second)-1)
	default:
		if n != 0 {
			r.fail()
		}
		return 0, false
	}
	return d, true
}

func (r *reader) since(at time.Time) {
	if !at.IsZero() {
		r.last = at.UnixNano()
	}
}

func (r *reader) days() time.Time {
	d, some := r.duration()
	if !some {
		return time.Time{}
	}
	return time.Unix(0, r.last+d+r.number()*day).UTC()
}

func (r *reader) memory() int64 {
	n := r.count()
	bytes := int64(min(n/2, most/page+1)) * page
	if n%2 != 0 {
		bytes += r.between(1, page-1)
	}
	if bytes > most {
		r.fail()
	}
	return bytes
}

// windows reads the windows of a record.
func (r *reader) windows(of *record) {
	n := r.count()
	if n > uint64(len(r.rest)/leastWindow) {
		r.fail()
		return
	}
	all, has := make([]*window, n), make([]uint64, n)
	each := func(do func(win *window, has uint64)) {
		for i, win := range all {
			if r.err == nil {
				do(win, has[i])
			}
		}
	}
	for i := range all {
		head := r.count()
		if r.err != nil || head/flags >= uint64(len(of.types)) {
			r.fail()
			return
		}
		all[i], has[i] = &window{series: of.types[head/flags]}, head
	}
	for _, win := range all {
		var bytes [8]byte
		n := copy(bytes[:idBytes], r.rest)
		id := podID(binary.LittleEndian.Uint64(bytes[:]))
		if n < idBytes || of.windows[id] != nil {
			r.fail()
			return
		}
		r.rest, of.windows[id] = r.rest[n:], win
	}
	each(func(win *window, _ uint64) {
		r.since(win.series.heard)
		win.memory = r.time()
	})
	each(func(win *window, _ uint64) {
		r.since(win.memory)
		win.end = r.time()
	})
	each(func(win *window, _ uint64) { win.peak = r.memory() })
	each(func(win *window, has uint64) {
		if has&hasPast != 0 {
			r.since(win.end)
			win.past.end, win.past.peak = r.days(), r.memory()
		}
	})
	each(func(win *window, has uint64) {
		sources := uint64(1)
		if has&hasSources != 0 {
			sources = r.count()
		}
		if sources > mostSources {
			r.fail()
			return
		}
		win.cpu = make([]progress, sources)
		for i := range win.cpu {
			p := &win.cpu[i]
			r.since(win.memory)
			p.until = r.time()
			if has&hasHoles != 0 {
				p.hole.until, p.hole.from = r.time(), r.time()
			}
			r.since(win.end)
			p.from = r.days()
		}
	})
	each(func(win *window, has uint64) {
		if has&hasKill != 0 {
			win.killed, win.killPeak, win.past.killPeak = r.time(), r.memory(), r.memory()
		}
	})
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
		all[i].first, all[i].last = r.between(0, latest), r.between(0, latest/3600)
		for word := range all[i].seen {
			all[i].seen[word] = r.word()
		}
	}
}

func (r *reader) series(halfLives shapes) *series {
	s := &series{nodeType: r.text(), first: r.time(), last: r.time(), heard: r.time()}
	s.samples = int(r.between(0, math.MaxInt))
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
