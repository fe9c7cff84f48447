package measure

import (
	"runtime"
	"runtime/debug"
)

// tune makes Go run all threads at the same time, regardless of the quota, and collect
// garbage only between repetitions. The returned function undoes it.
func tune(threads int, memory, limit int64) func() {
	procs := runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), threads+1))
	collect := debug.SetGCPercent(-1)
	most := memory + 256<<20
	if limit > 0 {
		most = min(most, limit/4*3)
	}
	before := debug.SetMemoryLimit(most)
	return func() {
		debug.SetMemoryLimit(before)
		debug.SetGCPercent(collect)
		runtime.GOMAXPROCS(procs)
		debug.FreeOSMemory()
	}
}
