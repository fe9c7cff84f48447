package main

import (
	"errors"
	"fmt"

	"github.com/workload-resizer/workload-resizer/agent/usage"
)

// check compares usages, by container, with what the containers did.
func check(usages map[string]usage.Usage) error {
	var errs []error
	expect := func(what string, digit string, ok func(u usage.Usage) bool) {
		u, found := usages[id(digit)]
		fmt.Printf("%-60s %s\n", what, describe(u))
		if !found || !ok(u) {
			errs = append(errs, errors.New(what))
		}
	}
	const mib = 1 << 20
	memory := func(u usage.Usage) int64 {
		if u.Memory == nil {
			return -1
		}
		return *u.Memory
	}
	expect("a CPU limit bounds CPU, throttles, and makes tasks wait", "1", func(u usage.Usage) bool {
		return u.CPU != nil && *u.CPU > 0.15 && *u.CPU < 0.25 && number(u.Throttled) > 0.8 && number(u.CPUPressure) > 0.5
	})
	expect("memory that is held counts", "2", func(u usage.Usage) bool {
		return memory(u) >= holdBytes && memory(u) < holdBytes+24*mib && number(u.Throttled) == 0 && number(u.LimitEvents) == 0
	})
	expect("a peak between two samples counts", "3", func(u usage.Usage) bool {
		return memory(u) >= spikeBytes && memory(u) < spikeBytes+32*mib
	})
	expect("the page cache does not count", "4", func(u usage.Usage) bool { return memory(u) > 0 && memory(u) < cacheBytes/3 })
	expect("the page cache does not count between two samples", "5", func(u usage.Usage) bool { return memory(u) > 0 && memory(u) < cacheBytes/3 })
	expect("the page cache reaches the limit", "6", func(u usage.Usage) bool {
		return memory(u) > 0 && memory(u) < cacheLimit && number(u.LimitEvents) > 0
	})
	for _, digit := range []string{"a", "b"} {
		if _, found := usages[id(digit)]; found {
			errs = append(errs, fmt.Errorf("the sandbox %s is reported", digit))
		}
	}
	return errors.Join(errs...)
}

// number returns a value that is known; -1 if it is not.
func number[N int64 | float64](n *N) float64 {
	if n == nil {
		return -1
	}
	return float64(*n)
}

func describe(u usage.Usage) string {
	cpu, memory := "unknown", "unknown"
	if u.CPU != nil {
		cpu = fmt.Sprintf("%.3f cores", *u.CPU)
	}
	if u.Memory != nil {
		memory = fmt.Sprintf("%.1f MiB", float64(*u.Memory)/(1<<20))
	}
	return fmt.Sprintf("%s, %s, throttled %.2f, CPU wait %.2f, memory wait %.2f, %.0f limit events in %v",
		cpu, memory, number(u.Throttled), number(u.CPUPressure), number(u.MemoryPressure), number(u.LimitEvents), u.Duration)
}
