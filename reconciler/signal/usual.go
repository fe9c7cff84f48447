package signal

import (
	"math"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
)

const (
	// slot is the time that one span covers. The time before a resize is one to two of them.
	slot = 5 * time.Minute
	// kept is how long the usual values are kept without a sample.
	kept = 4 * slot
)

// usual is how a container fares usually: the highest values of the current slot of time, and of the one
// before. There is one of each container in the cluster, so it is small, and has no pointers.
type usual struct {
	// slot is the number of the current slot, since 1970.
	slot      uint32
	now, past span
	// starts means that all of it is of a pod that starts.
	starts bool
}

// span has the highest values in a slot, with 1 added to what is known.
type span struct {
	// memory is in pages. The shares are in ten-thousandths.
	memory                                 uint32
	throttled, cpuPressure, memoryPressure uint16
	limitEvents                            uint8
}

const (
	page = 4096
	most = 10_000
)

// admits reports whether a sample may be added, given whether the pod starts: a later time takes the place of the
// start.
func (u *usual) admits(starts bool) bool {
	if u.slot != 0 && u.starts && !starts {
		u.now, u.past = u.now.steady(), u.past.steady()
	}
	late := u.slot != 0 && !u.starts && starts
	u.starts = starts && !late
	return !late
}

// steady returns what is usual after the start, too.
func (s *span) steady() span { return span{memory: s.memory, limitEvents: s.limitEvents} }

// add adds a sample.
func (u *usual) add(s *Sample) {
	switch at := slotOf(s.At); {
	case at == u.slot:
		u.now.add(&s.Strain)
	case at == u.slot-1:
		u.past.add(&s.Strain)
	case at == u.slot+1:
		u.slot, u.past, u.now = at, u.now, span{}
		u.now.add(&s.Strain)
	case at > u.slot:
		*u = usual{slot: at, starts: u.starts}
		u.now.add(&s.Strain)
	}
}

// before returns how the container fared before a time. Nothing that is older counts.
func (u *usual) before(at time.Time) (s guard.Strain) {
	switch slotOf(at) - u.slot {
	case 0, 1:
		past := u.past.strain()
		s = u.now.strain().Max(&past)
	case math.MaxUint32: // A sample after that time has begun the next slot.
		s = u.past.strain()
	}
	return s
}

func slotOf(at time.Time) uint32 { return uint32(at.Unix() / int64(slot/time.Second)) }

func (s *span) add(o *guard.Strain) {
	if o.Memory.Known {
		s.memory = max(s.memory, uint32(min(math.Ceil(o.Memory.N/page), math.MaxUint32-1))+1)
	}
	for _, share := range [...]struct {
		of   *uint16
		from guard.Value
	}{{&s.throttled, o.Throttled}, {&s.cpuPressure, o.CPUPressure}, {&s.memoryPressure, o.MemoryPressure}} {
		if share.from.Known {
			*share.of = max(*share.of, uint16(math.Round(min(share.from.N, 1)*most))+1)
		}
	}
	if o.LimitEvents.Known {
		s.limitEvents = max(s.limitEvents, uint8(min(o.LimitEvents.N, 1))+1)
	}
}

// strain returns the values.
func (s *span) strain() guard.Strain {
	value := func(n, unit float64) guard.Value {
		if n == 0 {
			return guard.Value{}
		}
		return guard.Of((n - 1) * unit)
	}
	return guard.Strain{
		Throttled: value(float64(s.throttled), 1./most), CPUPressure: value(float64(s.cpuPressure), 1./most),
		MemoryPressure: value(float64(s.memoryPressure), 1./most), Memory: value(float64(s.memory), page), LimitEvents: value(float64(s.limitEvents), 1),
	}
}
