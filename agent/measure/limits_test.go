package measure

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

func TestLimits(t *testing.T) {
	t.Run("memory is much more than caches hold", memoryIsMuchMoreThanCachesHold)
	t.Run("kernels that have too little memory are left out", kernelsThatHaveTooLittleMemoryAreLeftOut)
	t.Run("a quota lets fewer kernels be measured", aQuotaLetsFewerKernelsBeMeasured)
}

func memoryIsMuchMoreThanCachesHold(t *testing.T) {
	const mib = 1 << 20
	for _, tc := range []struct {
		name                  string
		cache, limit, n, want int64
	}{
		{"four times the caches", 32 * mib, 0, 2, 128 * mib},
		{"what a socket has where caches are not known", 0, 0, 2, 128 * mib},
		{"no more than half of the limit", 32 * mib, 200 * mib, 1, 100 * mib},
		{"which is shared", 32 * mib, 400 * mib, 2, 100 * mib},
		{"nothing where that is not twice the caches", 32 * mib, 200 * mib, 2, 0},
		{"no more than 1 GiB", 400 * mib, 0, 2, 1024 * mib},
		{"nothing where that is not enough", 600 * mib, 0, 2, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, reason := memoryBytes(tc.cache, tc.limit, tc.n)
			if got != tc.want || (got == 0) != (reason != "") {
				t.Errorf("got %d (%s), want %d", got, reason, tc.want)
			}
		})
	}
}

func kernelsThatHaveTooLittleMemoryAreLeftOut(t *testing.T) {
	all := kernel.All()
	left, memory, skipped := withMemory(all, Limits{CacheBytes: 32 << 20, MemoryBytes: 100 << 20})
	if len(left) != 5 || memory != 0 || len(skipped) != 2 || skipped[0].Kernel != "bench-node:memory-latency" {
		t.Errorf("got %d kernels, %d bytes, left out %v", len(left), memory, skipped)
	}
	left, memory, skipped = withMemory(all, Limits{CacheBytes: 32 << 20})
	if len(left) != len(all) || memory != 128<<20 || len(skipped) != 0 {
		t.Errorf("got %d kernels, %d bytes, left out %v", len(left), memory, skipped)
	}
}

func aQuotaLetsFewerKernelsBeMeasured(t *testing.T) {
	for _, tc := range []struct {
		name    string
		threads int
		quota   float64
		want    int
	}{
		{"no quota", 64, 0, 7},
		{"a quota of all vCPUs is none", 4, 4, 7},
		{"half of two vCPUs is enough for all", 2, 1, 7},
		{"a tenth of a CPU, for two", 2, 0.1, 2},
		{"a twentieth, for one", 2, 0.05, 1},
		{"a fiftieth, for none", 2, 0.02, 0},
		{"a CPU that many threads share, for one", 64, 1, 1},
		{"half of one, for none", 64, 0.5, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := fitting(7, tc.threads, tc.quota, 20*time.Second); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}
