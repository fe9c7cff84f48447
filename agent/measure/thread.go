package measure

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the CPU time of the calling thread.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic("read the thread's CPU time: " + err.Error())
	}
	return time.Duration(t.Nano())
}

// settleOn binds the calling thread to a vCPU, so that vCPUs that share a core have the same
// load, and gives it the lowest priority. Neither needs privileges. If a sandbox forbids it,
// the score is noisier but still valid.
//
// SCHED_IDLE is better than nice 19 alone: a thread that wakes up runs immediately, and the
// scheduler treats the vCPU as idle. Other threads therefore neither wait for this thread nor
// move to another vCPU. If another thread computes all the time, this thread starves with
// either setting, and the run is discarded.
func settleOn(cpu int) {
	var only unix.CPUSet
	only.Set(cpu)
	_ = unix.SchedSetaffinity(0, &only)
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, lowestPriority)
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE, Nice: lowestPriority}, 0)
}

// lowestPriority is the highest nice value.
const lowestPriority = 19
