package quiet

import (
	"fmt"
	"time"
)

const (
	// MaxPressure is for how much of the last ten seconds tasks may have waited
	// for a CPU before a run, in percent. A node with something to do shows a few
	// percent; above ten its CPUs are contended.
	MaxPressure = 10.0
	// MaxSteal is how much of the time of the vCPUs the hypervisor may have given
	// to others during a run. Stolen time counts as CPU time of whoever was
	// running, so one percent of it is one percent of the score.
	MaxSteal = 0.01
	// MaxOthers is how much of it other processes may have used. Their time is
	// not ours, but their use of caches, memory and shared cores is felt; the
	// daemons of a node use a few percent.
	MaxOthers = 0.10
)

// Error is why a run is thrown away.
type Error struct{ reason string }

// Error implements error.
func (e *Error) Error() string { return "the node was busy: " + e.reason }

// Reading is what the counters show at one time. All are sums since boot, in
// seconds of CPU time.
type Reading struct {
	// Time is when they were read.
	Time time.Time
	// Busy is what all processes and the kernel have used, Steal what the
	// hypervisor has given to others.
	Busy, Steal float64
	// Own is what this process has used.
	Own float64
}

// Before returns an *Error if a run should not begin, by the share of the last ten
// seconds in which tasks waited for a CPU, in percent.
func Before(pressure float64) error {
	if pressure > MaxPressure {
		return &Error{fmt.Sprintf("tasks waited for a CPU %.1f %% of the last 10 s (PSI), more than %.0f %%", pressure, MaxPressure)}
	}
	return nil
}

// During returns an *Error if a run on a node of so many vCPUs, between two
// readings, was disturbed.
func During(start, end Reading, vcpus int) error {
	all := end.Time.Sub(start.Time).Seconds() * float64(vcpus)
	if all <= 0 {
		return nil
	}
	if share := (end.Steal - start.Steal) / all; share > MaxSteal {
		return &Error{fmt.Sprintf("the hypervisor gave %.1f %% of the vCPUs' time to others (steal), more than %.0f %%", 100*share, 100*MaxSteal)}
	}
	others := (end.Busy - start.Busy) - (end.Own - start.Own)
	if share := others / all; share > MaxOthers {
		return &Error{fmt.Sprintf("other processes used %.0f %% of the vCPUs' time, more than %.0f %%", 100*share, 100*MaxOthers)}
	}
	return nil
}
