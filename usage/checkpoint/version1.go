package checkpoint

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"time"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/histogram"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Version 1 of the form was not protobuf, but a sequence of varints, texts with their lengths, and words. It is
// only read: the next write of a shard is in the current version. History checks what is read.

// version1Shard reads a header, which the content follows, deflated.
func version1Shard(b []byte, shard *storedv2.Shard) {
	r := version1{rest: b}
	shard.WrittenNanos, shard.Index, shard.Count, shard.Length = r.number(), uint32(r.count(most)), uint32(r.count(most)), uint32(r.count(longest))
	shard.Content = r.rest
}

// version1Content reads the progress of sources and the forms of containers.
func version1Content(raw []byte) (content, error) {
	r := version1{rest: raw}
	c := content{progress: map[string]time.Time{}, unpack: version1Container}
	for n := r.count(len(raw)); n > 0 && r.err == nil; n-- {
		c.progress[r.text()] = time.Unix(0, r.number()).UTC()
	}
	for len(r.rest) > 0 {
		form := r.take(r.count(len(r.rest)))
		if len(form) < 32 {
			return c, errShort
		}
		c.forms = append(c.forms, form)
	}
	return c, r.err
}

// version1Container reads the names of sets of ratios, and a history.
func version1Container(form []byte) (c container, err error) {
	r := version1{rest: form}
	c.ratios = make([]string, r.count(len(form)))
	for i := range c.ratios {
		c.ratios[i] = r.text()
	}
	r.count(1) // the version of the history
	c.Container = history.Container{Namespace: r.text(), Kind: r.text(), Workload: r.text(), Name: r.text()}
	c.State = &history.State{Shapes: history.ShapesOf(time.Duration(r.number()), time.Duration(r.number()))}
	var hours [3]history.Hours
	for i := range hours {
		if h := &hours[i]; i > 0 && r.number() == 1 {
			*h = hours[i-1]
		} else {
			*h = history.Hours{First: r.number(), Last: r.number(), Seen: [3]uint64{r.word(8), r.word(8), r.word(8)}}
		}
	}
	for n := r.number(); n > 0 && r.err == nil; n-- {
		s := r.series(c.Shapes)
		s.Hours = hours // They were stored for all node types together.
		c.Types = append(c.Types, s)
	}
	r.windows(c.State)
	return c, r.err
}

// version1 takes values from bytes. After an error, it returns zeros.
type version1 struct {
	rest []byte
	err  error
	// last is the time, in nanoseconds since 1970, from which the next one counts.
	last int64
}

func (r *version1) fail() { r.rest, r.err = nil, errors.New("not a history in format 1") }

// take takes a number of bytes; a number below 0 is an error.
func (r *version1) take(n int) (b []byte) {
	if n < 0 || n > len(r.rest) {
		r.fail()
		return nil
	}
	b, r.rest = r.rest[:n], r.rest[n:]
	return b
}

// text takes text with its length. Protobuf can have no other text.
func (r *version1) text() string {
	return strings.ToValidUTF8(string(r.take(r.count(len(r.rest)))), "?")
}

// word takes a number with the lowest byte first.
func (r *version1) word(bytes int) uint64 {
	var b [8]byte
	copy(b[:], r.take(bytes))
	return binary.LittleEndian.Uint64(b[:])
}

func (r *version1) number() int64 {
	n, used := binary.Varint(r.rest)
	r.take(cmp.Or(used, -1))
	return n
}

// count takes a number without a sign, which is not above the given one.
func (r *version1) count(most int) int {
	n, used := binary.Uvarint(r.rest)
	if n > uint64(most) {
		n, used = 0, -1
	}
	r.take(cmp.Or(used, -1))
	return int(n)
}

// time takes seconds since the last time, multiplied by 4. It has 1 added, or 2 if nanoseconds follow; 0 means no
// time. If the time counts days, their number follows, and the next time does not count from it.
func (r *version1) time(days bool) time.Time {
	n := r.number()
	if n == 0 {
		return time.Time{}
	}
	at := r.last + n>>2*int64(time.Second)
	if n&2 != 0 {
		at += r.number()
	}
	if days {
		at += r.number() * int64(24*time.Hour)
	} else {
		r.last = at
	}
	return time.Unix(0, at).UTC()
}

// since makes the next time count from this one, if it is a time.
func (r *version1) since(at time.Time) *version1 {
	if !at.IsZero() {
		r.last = at.UnixNano()
	}
	return r
}

// memory takes pages, multiplied by 2. It has 1 added if bytes follow.
func (r *version1) memory() int64 {
	n := r.count(math.MaxInt)
	if n%2 == 0 {
		return int64(n / 2 * page)
	}
	return int64(n/2*page) + r.number()
}

func (r *version1) series(shapes history.Shapes) *history.Series {
	s := &history.Series{NodeType: r.text(), First: r.time(false), Last: r.time(false), Heard: r.time(false), Samples: int(r.number())}
	s.CPU, s.Memory, s.Throttled = r.histogram(shapes.CPU), r.histogram(shapes.Memory), r.histogram(shapes.CPU)
	if r.number() == 1 {
		pressed := r.histogram(shapes.CPU)
		s.Pressed = &pressed
	}
	if r.number() == 1 {
		s.Week = &history.Week{}
		for i := range s.Week.Hour {
			s.Week.Hour[i], s.Week.CPU[i], s.Week.Memory[i] = r.number(), r.number(), r.number()
		}
	}
	return s
}

// histogram takes the number of buckets. If there are any, the reference time follows as a number of half-lives
// and the rest, and the upper half of the total. After that come ranges of buckets, as a distance and a length, and
// the weight of each bucket, in units, or as 0 and the power of two by which the total is divided.
func (r *version1) histogram(shape *histogram.Shape) histogram.Histogram {
	kept := r.count(math.MaxUint8)
	if kept == 0 {
		return histogram.New(shape)
	}
	m := &storedv2.Histogram{ReferenceHalfLives: r.number(), ReferenceNanos: r.number(), Total: uint32(r.word(4))}
	for left := kept; left > 0 && r.err == nil; left -= int(m.Buckets[len(m.Buckets)-1]) {
		m.Buckets = append(m.Buckets, uint32(r.count(math.MaxUint8)), uint32(r.count(left)))
	}
	for range kept {
		n := r.count(math.MaxInt32-halved) + halved
		if n == halved {
			n = mostHalved - r.count(mostHalved)
		}
		m.Weights = append(m.Weights, uint32(n))
	}
	h, err := unpackHistogram(m, shape)
	if err != nil {
		r.fail()
	}
	return h
}

// windows takes the windows, one property of all after the other.
func (r *version1) windows(s *history.State) {
	const hasPast, hasHoles, hasKill, hasSources, flags = 1, 2, 4, 8, 16 // what others do not have
	const least = 10                                                     // bytes of a window
	all, types, has := []*history.Window{}, []int{}, []int{}
	for n := r.count(len(r.rest) / least); n > len(all); {
		head := r.count(math.MaxInt)
		if head/flags >= len(s.Types) {
			r.fail()
			return
		}
		all, types, has = append(all, &history.Window{NodeType: s.Types[head/flags].NodeType}), append(types, head/flags), append(has, head%flags)
	}
	s.Windows = make(map[history.PodID]*history.Window, len(all))
	for _, w := range all {
		s.Windows[history.PodID(r.word(history.IDBytes))] = w
	}
	for i, w := range all {
		w.Memory = r.since(s.Types[types[i]].Heard).time(false)
	}
	for _, w := range all {
		w.End = r.since(w.Memory).time(false)
	}
	for _, w := range all {
		w.Peak = r.memory()
	}
	for i, w := range all {
		if has[i]&hasPast != 0 {
			w.Past = history.Span{End: r.since(w.End).time(true), Peak: r.memory()}
		}
	}
	for i, w := range all {
		sources := 1
		if has[i]&hasSources != 0 {
			sources = r.count(len(r.rest) / 2) // A source has at least 2 bytes.
		}
		for range sources {
			var p history.Progress
			p.Until = r.since(w.Memory).time(false)
			if has[i]&hasHoles != 0 {
				p.Hole = history.Period{Until: r.time(false), From: r.time(false)}
			}
			p.From = r.since(w.End).time(true)
			w.CPU = append(w.CPU, p)
		}
	}
	for i, w := range all {
		if has[i]&hasKill != 0 {
			w.Killed, w.KillPeak, w.Past.KillPeak = r.time(false), r.memory(), r.memory()
		}
	}
}
