package signal

import (
	"math"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
)

const (
	// slot is the time that one span covers. The time before a resize is one to two of them.
	slot = 5 * time.Minute
	// kept is for how many slots the usual values are kept without a sample.
	kept = 4
)

// usual is how a container fares usually: the highest values of the current slot of time, and of the one
// before. There is one of each container in the cluster, so it has no pointers and takes only 20 bytes. The zero
// value has no samples.
type usual struct {
	// slot is the number of the current slot, see slotOf.
	slot      uint16
	now, past span
	// starts means that all of it is of a pod that starts.
	starts bool
}

// span has the highest values in a slot, with 1 added to what is known.
type span struct {
	// memory and charged are binary logarithms of the number of pages, in parts of 1/octave, rounded up: at most 0.04%
	// more. The shares are in parts of 1/whole.
	memory, charged                                     uint16
	throttled, cpuPressure, memoryPressure, limitEvents uint8
}

const (
	page   = 4096
	octave = 2048
	whole  = 250
)

// admits reports whether a sample may be added, given whether the pod starts: a later time takes the place of the
// start.
func (u *usual) admits(starts bool) bool {
	if u.starts && !starts {
		u.now, u.past = u.now.steady(), u.past.steady()
	}
	late := *u != (usual{}) && !u.starts && starts
	u.starts = starts && !late
	return !late
}

// steady returns what is usual after the start, too.
func (s *span) steady() span {
	return span{memory: s.memory, charged: s.charged, limitEvents: s.limitEvents}
}

// add adds a sample.
func (u *usual) add(s *Sample) {
	at := slotOf(s.At)
	switch newer := int16(at - u.slot); {
	case u.now == (span{}) && u.past == (span{}), newer > 1:
		*u = usual{slot: at, starts: u.starts}
		u.now.add(&s.Strain)
	case newer == 1:
		u.slot, u.past, u.now = at, u.now, span{}
		u.now.add(&s.Strain)
	case newer == 0:
		u.now.add(&s.Strain)
	case newer == -1:
		u.past.add(&s.Strain)
	}
}

// before returns how the container fared before a time. Nothing that is older counts.
func (u *usual) before(at time.Time) (s guard.Strain) {
	switch slotOf(at) - u.slot {
	case 0, 1:
		past := u.past.strain()
		s = u.now.strain().Max(&past)
	case math.MaxUint16: // A sample after that time has begun the next slot.
		s = u.past.strain()
	}
	return s
}

// slotOf returns the number of the slot of a time. The numbers start again after 227 days, and nothing is kept for
// half as long.
func slotOf(at time.Time) uint16 { return uint16(at.Unix() / int64(slot/time.Second)) }

func (s *span) add(o *guard.Strain) {
	for _, bytes := range [...]struct {
		of   *uint16
		from guard.Value
	}{{&s.memory, o.Memory}, {&s.charged, o.Charged}} {
		if bytes.from.Known {
			pages := max(1, math.Ceil(bytes.from.N/page))
			*bytes.of = max(*bytes.of, uint16(min(math.Ceil(octave*math.Log2(pages)), math.MaxUint16-1))+1)
		}
	}
	for _, share := range [...]struct {
		of   *uint8
		from guard.Value
	}{{&s.throttled, o.Throttled}, {&s.cpuPressure, o.CPUPressure}, {&s.memoryPressure, o.MemoryPressure}} {
		if share.from.Known {
			*share.of = max(*share.of, uint8(math.Round(min(share.from.N, 1)*whole))+1)
		}
	}
	if o.LimitEvents.Known {
		s.limitEvents = max(s.limitEvents, uint8(min(o.LimitEvents.N, 1))+1)
	}
}

// strain returns the values.
func (s *span) strain() guard.Strain {
	known := func(code uint16, n float64) guard.Value {
		if code == 0 {
			return guard.Value{}
		}
		return guard.Of(n)
	}
	share := func(code uint8) guard.Value { return known(uint16(code), float64(code-1)/whole) }
	bytes := func(code uint16) guard.Value { return known(code, page*math.Exp2(float64(code-1)/octave)) }
	return guard.Strain{
		Throttled: share(s.throttled), CPUPressure: share(s.cpuPressure), MemoryPressure: share(s.memoryPressure),
		Memory: bytes(s.memory), Charged: bytes(s.charged),
		LimitEvents: known(uint16(s.limitEvents), float64(s.limitEvents-1)),
	}
}
