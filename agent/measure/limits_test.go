package measure

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

func TestLimits(t *testing.T) {
	t.Run("sizes data well beyond the caches", sizesDataWellBeyondTheCaches)
	t.Run("skips kernels that have too little memory", skipsKernelsThatHaveTooLittleMemory)
	t.Run("measures fewer kernels under a quota", measuresFewerKernelsUnderAQuota)
}

func sizesDataWellBeyondTheCaches(t *testing.T) {
	const mib = 1 << 20
	for _, tc := range []struct {
		name                  string
		cache, limit, n, want int64
	}{
		{"is four times the caches", 32 * mib, 0, 2, 128 * mib},
		{"assumes the caches of a socket if they are unknown", 0, 0, 2, 128 * mib},
		{"is at most half of the limit", 32 * mib, 200 * mib, 1, 100 * mib},
		{"shares half of the limit among memory kernels", 32 * mib, 400 * mib, 2, 100 * mib},
		{"is 0 if the share is less than twice the caches", 32 * mib, 200 * mib, 2, 0},
		{"is at most 1 GiB", 400 * mib, 0, 2, 1024 * mib},
		{"is 0 if 1 GiB is less than twice the caches", 600 * mib, 0, 2, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, reason := memoryBytes(tc.cache, tc.limit, tc.n)
			if got != tc.want || (got == 0) != (reason != "") {
				t.Errorf("got %d (%s), want %d", got, reason, tc.want)
			}
		})
	}
}

func skipsKernelsThatHaveTooLittleMemory(t *testing.T) {
	all := kernel.All()
	left, memory, skipped := withMemory(all, Limits{CacheBytes: 32 << 20, MemoryBytes: 100 << 20})
	if len(left) != 4 || memory != 0 || len(skipped) != 2 || skipped[0].Kernel != "bench-node:memory-latency" {
		t.Errorf("got %d kernels, %d bytes, skipped %v", len(left), memory, skipped)
	}
	left, memory, skipped = withMemory(all, Limits{CacheBytes: 32 << 20})
	if len(left) != len(all) || memory != 128<<20 || len(skipped) != 0 {
		t.Errorf("got %d kernels, %d bytes, skipped %v", len(left), memory, skipped)
	}
}

func measuresFewerKernelsUnderAQuota(t *testing.T) {
	for _, tc := range []struct {
		name    string
		threads int
		quota   float64
		want    int
	}{
		{"all kernels fit without a quota", 64, 0, 7},
		{"all kernels fit with a quota of all vCPUs", 4, 4, 7},
		{"all kernels fit with half of two vCPUs", 2, 1, 7},
		{"two kernels fit with a tenth of a CPU", 2, 0.1, 2},
		{"one kernel fits with a twentieth of a CPU", 2, 0.05, 1},
		{"no kernel fits with a fiftieth of a CPU", 2, 0.02, 0},
		{"one kernel fits if many threads share a CPU", 64, 1, 1},
		{"no kernel fits if many threads share half of a CPU", 64, 0.5, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := fitting(7, tc.threads, tc.quota, 20*time.Second); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}
