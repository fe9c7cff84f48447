package feed

import (
	"path"
	"strings"
)

// machineSpeeds are the benchmarks of Spare Cores that load all vCPUs and of which
// more is faster; rows do not say either. Some of the others: bogomips is no
// measurement, bw_mem, membench and passmark:memory_* are of memory,
// passmark:database_operations and stress_ng:best1 are of one thread, of
// *:latency and compression_text:ratio less is better, and llm_speed:* may have
// run on a GPU. One that is not known here is not trusted: taken the wrong way
// round it would turn a ratio upside down.
var machineSpeeds = []string{
	"app:static_web", "compression_text:compress", "compression_text:decompress", "geekbench:*", "openssl",
	"passmark:cpu_*", "redis:rps*", "static_web:rps*", "static_web:throughput*",
	"stress_ng:bestn", "stress_ng:cpu_all", "stress_ng:div16",
}

func isMachineSpeed(benchmark string) bool {
	if strings.Contains(benchmark, "single") { // passmark:cpu_single_threaded_test
		return false
	}
	for _, pattern := range machineSpeeds {
		if ok, _ := path.Match(pattern, benchmark); ok { // The patterns are good.
			return true
		}
	}
	return false
}
