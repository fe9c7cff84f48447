package machine

import (
	"strconv"
	"strings"

	"k8s.io/utils/cpuset"
)

// topology returns the largest number of vCPUs that share a core, how many of cpus share the
// core of each of cpus, and the total size of their last-level caches.
func topology(text func(string) string, cpus cpuset.CPUSet) (threadsPerCore int, sharing []int, cacheBytes int64) {
	seen := map[string]bool{}
	for _, cpu := range cpus.List() {
		dir := "sys/devices/system/cpu/cpu" + strconv.Itoa(cpu)
		if siblings, err := cpuset.Parse(text(dir + "/topology/thread_siblings_list")); err == nil && !siblings.IsEmpty() {
			threadsPerCore = max(threadsPerCore, siblings.Size())
			sharing = append(sharing, siblings.Intersection(cpus).Size())
		}
		level, size, shared := 0, int64(0), ""
		for index := 0; ; index++ {
			cache := dir + "/cache/index" + strconv.Itoa(index)
			l, err := strconv.Atoi(text(cache + "/level"))
			if err != nil {
				break
			}
			if l > level {
				level, size, shared = l, kibibytes(text(cache+"/size")), text(cache+"/shared_cpu_list")
			}
		}
		if !seen[shared] {
			seen[shared] = true
			cacheBytes += size
		}
	}
	if len(sharing) != cpus.Size() {
		sharing = nil // Unknown for at least one vCPU.
	}
	return threadsPerCore, sharing, cacheBytes
}

// kibibytes parses a size such as "32768K" and returns it in bytes; 0 if it is invalid.
func kibibytes(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(text, "K"), 10, 53)
	if err != nil || n < 0 {
		return 0
	}
	return n << 10
}
