package history

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

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
		if newest.Before(s.heard) && !s.heard.After(now.Add(Skew)) {
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
