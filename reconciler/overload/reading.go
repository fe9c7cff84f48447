package overload

import (
	"math"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
)

// Signal is what is measured of a node.
type Signal int

// The signals. CPU and Memory are shares of what the node has for pods, Pressure is the share of the time in which a task
// waits for CPU, and Load is the load average per vCPU.
const (
	CPU Signal = iota
	Memory
	Pressure
	Load
	signals
)

// String returns the name of the signal in the configuration.
func (s Signal) String() string { return [signals]string{"cpu", "memory", "pressure", "load"}[s] }

// Limit returns the value from which a signal is too high; 0 if it is not checked.
func (s Signal) Limit(limits *policy.Overload) float64 {
	return [signals]float64{limits.CPU, limits.Memory, limits.Pressure, limits.Load}[s]
}

// Reading is a value that was measured at a time, by the clock of the node. Without a time, it is not known.
type Reading struct {
	Value float64
	At    time.Time
}

// Readings are the newest readings of a node, by signal.
type Readings [signals]Reading

const (
	// Fresh is how old a reading may be, and skew how far in the future by the clock of another machine.
	Fresh = 3 * time.Minute
	skew  = time.Minute
	// Forget is how long a node keeps the taint of which nothing is known.
	Forget = 10 * time.Minute
	// Hysteresis is by which share of a limit a value must be lower to be low again.
	Hysteresis = 0.1
)

// counts reports whether a reading says how a node is now.
func (r *Reading) counts(now time.Time) bool {
	if age := now.Sub(r.At); r.At.IsZero() || age > Fresh || age < -skew {
		return false
	}
	return r.Value >= 0 && !math.IsInf(r.Value, 0) // NaN is not.
}

// level is how a value compares to its limit.
type level int

const (
	unknown level = iota
	low
	between
	high
)

func levelOf(value, limit float64) level {
	switch {
	case value >= limit:
		return high
	case value < limit*(1-Hysteresis):
		return low
	}
	return between
}

// trail is what is remembered of the readings of a signal: for how long all of them have had the same level. All times are by the
// clock of this process, except for at, so that no other clock makes it longer than it is.
type trail struct {
	level level
	// since is when the first of the readings was seen, and last when the newest was. That was taken at the time at, and
	// has this value.
	since, last, at time.Time
	value           float64
	// limit is what the values were compared with.
	limit float64
}

// follow adds a reading, unless it is known or says nothing.
func (t *trail) follow(r *Reading, limit float64, now time.Time) {
	if pause := now.Sub(t.last); t.limit != limit || pause > Fresh || pause < 0 {
		*t = trail{limit: limit} // It is not known what happened in between, or what the values mean now.
	}
	if limit == 0 || !r.counts(now) || t.level != unknown && r.At.Equal(t.at) {
		return
	}
	if is := levelOf(r.Value, limit); is != t.level || r.At.Before(t.at) {
		t.level, t.since = is, now
	}
	t.last, t.at, t.value = now, r.At, r.Value
}

// lasts reports whether the signal has had a level for some time.
func (t *trail) lasts(is level, least time.Duration) bool {
	return t.level == is && t.last.Sub(t.since) >= least
}
