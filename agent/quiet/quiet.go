package quiet

import (
	"fmt"
	"time"
)

const (
	// MaxPressure is the CPU pressure allowed before a run: the share of the last ten seconds
	// in which tasks waited for a CPU, in percent. Normal work causes a few percent; above
	// ten percent the CPUs are contended.
	MaxPressure = 10.0
	// MaxSteal is the share of the vCPUs' time that the hypervisor may give to other virtual
	// machines during a run. Stolen time counts as CPU time of the running thread, so one
	// percent of steal changes the score by one percent.
	MaxSteal = 0.01
	// MaxOthers is the share of the vCPUs' time that other processes may use during a run.
	// Their time does not count as ours, but their use of caches, memory and shared cores
	// affects scores. The daemons of a node use a few percent.
	MaxOthers = 0.10
)

// Error is the reason why a run is discarded.
type Error struct{ reason string }

// Error implements error.
func (e *Error) Error() string { return "the node was busy: " + e.reason }

// Reading is a reading of the counters. They are sums since boot, in seconds of CPU time.
type Reading struct {
	// Time is when the counters were read.
	Time time.Time
	// Busy is the CPU time that all processes and the kernel used. Steal is the CPU time that
	// the hypervisor gave to other virtual machines.
	Busy, Steal float64
	// Own is the CPU time that this process used.
	Own float64
}

// Before returns an *Error if a run should not begin. The pressure is the share of the last
// ten seconds in which tasks waited for a CPU, in percent.
func Before(pressure float64) error {
	if pressure > MaxPressure {
		return &Error{fmt.Sprintf("tasks waited for a CPU for %.1f%% of the last 10 s (PSI), more than %.0f%%", pressure, MaxPressure)}
	}
	return nil
}

// During returns an *Error if a run between two readings was disturbed. The node has that many
// vCPUs.
func During(start, end Reading, vcpus int) error {
	all := end.Time.Sub(start.Time).Seconds() * float64(vcpus)
	if all <= 0 {
		return nil
	}
	if share := (end.Steal - start.Steal) / all; share > MaxSteal {
		return &Error{fmt.Sprintf("the hypervisor gave %.1f%% of the vCPUs' time to other VMs (steal), more than %.0f%%", 100*share, 100*MaxSteal)}
	}
	others := (end.Busy - start.Busy) - (end.Own - start.Own)
	if share := others / all; share > MaxOthers {
		return &Error{fmt.Sprintf("other processes used %.0f%% of the vCPUs' time, more than %.0f%%", 100*share, 100*MaxOthers)}
	}
	return nil
}
