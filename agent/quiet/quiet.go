package quiet

import (
	"fmt"
	"math"
	"time"
)

const (
	// maxSteal is the share of the vCPUs' time that the hypervisor may give to other virtual
	// machines during a run. Stolen time counts as CPU time of the running thread, so one
	// percent of steal changes the score by one percent.
	maxSteal = 0.01
	// maxShared is the share of the vCPUs' time that other processes may use during a run if
	// vCPUs share cores. While a sibling thread is busy, a thread does less per CPU second.
	// Without shared cores, others' time costs only what they take of the caches.
	maxShared = 0.10
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

// During returns the share of the vCPUs' time that other processes used between two readings. It
// returns an *Error if that disturbed a run. The node has that many vCPUs; shared means that some
// of them share cores.
func During(start, end Reading, vcpus int, shared bool) (others float64, err error) {
	all := end.Time.Sub(start.Time).Seconds() * float64(vcpus)
	if all <= 0 {
		return 0, nil
	}
	others = min(max((end.Busy-start.Busy-(end.Own-start.Own))/all, 0), 1)
	// Both are rounded up, as they are more than is allowed.
	if share := (end.Steal - start.Steal) / all; share > maxSteal {
		return others, &Error{fmt.Sprintf("the hypervisor gave %.1f%% of the vCPUs' time to other VMs (steal), more than %.0f%%", math.Ceil(1000*share-1e-9)/10, 100*maxSteal)}
	}
	if shared && others > maxShared {
		return others, &Error{fmt.Sprintf("other processes used %.0f%% of the time of vCPUs that share cores, more than %.0f%%", math.Ceil(100*others-1e-9), 100*maxShared)}
	}
	return others, nil
}
