package measure

import (
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

func TestHeap(t *testing.T) {
	const mib = 1 << 20
	t.Run("224 threads measure all that compute within 1 GiB", func(t *testing.T) {
		var kernels []kernel.Kernel
		for _, k := range kernel.All() {
			if !k.Memory {
				kernels = append(kernels, k)
			}
		}
		w := measureWide(t, 224, 1024*mib)
		for _, k := range kernels {
			if !slices.Contains(w.Kernels, k.Name) {
				t.Errorf("%s cannot be measured, only %v", k.Name, w.Kernels)
			}
		}
		if w.Resident > 1024*mib {
			t.Errorf("the process had %d MiB", w.Resident>>20)
		}
		t.Logf("the process had %d MiB", w.Resident>>20)
	})
	t.Run("repetitions have all units if memory allows, and fewer otherwise", func(t *testing.T) {
		json := kernel.All()[0]
		for _, tc := range []struct {
			threads int
			limit   int64
			units   int
		}{
			{8, 512 * mib, 16}, {32, 512 * mib, 16}, {64, 512 * mib, 6}, {96, 512 * mib, 1},
			{128, 1024 * mib, 8}, {224, 1024 * mib, 1}, {224, 2048 * mib, 11}, {224, 0, 16}, {256, 512 * mib, 0},
		} {
			units, reason := newHeap(kernel.All(), tc.threads, tc.limit).units(json, 0)
			if units != tc.units || (units == 0) != strings.Contains(reason, "threads need") {
				t.Errorf("%d threads within %d MiB: %d units (%s), want %d", tc.threads, tc.limit>>20, units, reason, tc.units)
			}
		}
	})
	t.Run("the collector waits until a repetition of all threads has ended", func(t *testing.T) {
		for threads, want := range map[int]int64{2: 256 * mib, 64: 500 * mib, 224: 1700 * mib} {
			if got := newHeap(kernel.All(), threads, 0).most(kernel.All(), 0); got < want || got > 2*want {
				t.Errorf("%d threads: %d MiB", threads, got>>20)
			}
		}
	})
	t.Run("measuring memory leaves enough for the others", func(t *testing.T) {
		l := Limits{CPUs: make([]int, 224), CacheBytes: 64 * mib, MemoryBytes: 1024 * mib}
		left, data, skipped := withMemory(kernel.All(), l)
		if len(left) != 4 || data != 0 || len(skipped) != 2 {
			t.Errorf("%d kernels are left, with %d MiB of data; skipped: %v", len(left), data>>20, skipped)
		}
	})
}
