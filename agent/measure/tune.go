package measure

import (
	"runtime"
	"runtime/debug"
)

// tune makes Go run all threads at the same time, regardless of the quota, and collect
// garbage only between repetitions, or if the heap has that many bytes. The returned function
// undoes it.
func tune(threads int, heap int64) func() {
	procs := runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), threads+1))
	collect := debug.SetGCPercent(-1)
	before := debug.SetMemoryLimit(heap)
	return func() {
		debug.SetMemoryLimit(before)
		debug.SetGCPercent(collect)
		runtime.GOMAXPROCS(procs)
		debug.FreeOSMemory()
	}
}
