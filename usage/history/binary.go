package history

import (
	"encoding/binary"
	"errors"
	"maps"
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
