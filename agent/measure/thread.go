package measure

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is for how long the calling thread has run.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic("Linux has no clock of a thread's CPU time: " + err.Error())
	}
	return time.Duration(t.Nano())
}

// settleOn has the calling thread run on that vCPU only, so that vCPUs that share a
// core are loaded alike, and only when nothing else wants to. Neither needs rights.
// Where a sandbox forbids it, the score has more noise and is still one.
//
// SCHED_IDLE rather than nice 19 alone: whatever wakes up runs at once, and the
// scheduler takes the vCPU for an idle one, so that others neither wait for us nor
// move away. Next to something that computes all the time, a thread starves with
// either, and the run is thrown away.
func settleOn(cpu int) {
	var only unix.CPUSet
	only.Set(cpu)
	_ = unix.SchedSetaffinity(0, &only)
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, lowestPriority)
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE, Nice: lowestPriority}, 0)
}

// lowestPriority is the nice value of what is to run last.
const lowestPriority = 19
