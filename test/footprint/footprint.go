package footprint

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// factor is how many times its size an input may take in memory, and small is how many
// bytes even a small input may take.
const factor, small = 64, 4 << 20

// Check fails the test if parse takes too much memory at a time for an input of this size.
func Check(t testing.TB, size int, parse func()) {
	t.Helper()
	if used := peak(parse); used > factor*size+small {
		t.Errorf("%d bytes take %d bytes of memory, more than %d times as many", size, used, factor)
	}
}

// CheckAllocated is like Check, but faster and stricter: it counts the memory that parse
// allocates, even if it is free again before parse returns.
func CheckAllocated(t testing.TB, size int, parse func()) {
	t.Helper()
	before := read("/gc/heap/allocs:bytes")
	parse()
	if allocated := int(read("/gc/heap/allocs:bytes") - before); allocated > factor*size+small {
		t.Errorf("%d bytes make %d bytes of allocations, more than %d times as many", size, allocated, factor)
	}
}

// peak returns the maximum number of bytes of the heap in use while f runs.
func peak(f func()) int {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	const used = "/memory/classes/heap/objects:bytes"
	before := read(used)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	most := before
	for ended := false; !ended; runtime.Gosched() {
		select {
		case <-done:
			ended = true
		default:
		}
		most = max(most, read(used))
	}
	return int(most - before)
}

func read(metric string) uint64 {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
