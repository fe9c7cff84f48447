package feed

import (
	"path"
	"strings"
)

// machineSpeeds are the benchmarks of Spare Cores that load all vCPUs and for which more is
// faster. Rows state neither. Among the others, bogomips is not a measurement; bw_mem,
// membench and passmark:memory_* measure memory; passmark:database_operations and
// stress_ng:best1 use one thread; for *:latency and compression_text:ratio, less is better;
// llm_speed:* may have run on a GPU. A benchmark that is not listed here is not trusted: if
// less is faster, it would invert a ratio.
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
		if ok, _ := path.Match(pattern, benchmark); ok { // The patterns are valid.
			return true
		}
	}
	return false
}
