package usage

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Node is how a node fares now. Each value is nil if it cannot be measured.
type Node struct {
	// CPUPressure is the share of the last minute in which a task waited for CPU.
	CPUPressure *float64
	// Load is the load average of the last minute, divided by the number of vCPUs.
	Load *float64
}

var (
	// stalled finds the percentage of the last minute in /proc/pressure/cpu.
	stalled = regexp.MustCompile(`^some avg10=\S+ avg60=(\S+) `)
	// vcpu finds the lines of vCPUs in /proc/stat.
	vcpu = regexp.MustCompile(`(?m)^cpu\d`)
)

// ReadNode reads how the node fares from its /proc, which containers see as it is.
func ReadNode(proc string) (n Node) {
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(proc, name))
		if err != nil {
			return "" // An old kernel, or one without the file: not measured.
		}
		return string(content)
	}
	if match := stalled.FindStringSubmatch(read("pressure/cpu")); match != nil {
		if percent, ok := positive(match[1]); ok {
			share := min(percent/100, 1)
			n.CPUPressure = &share
		}
	}
	first, _, _ := strings.Cut(read("loadavg"), " ")
	load, ok := positive(first)
	if vcpus := len(vcpu.FindAllString(read("stat"), -1)); ok && vcpus > 0 {
		load /= float64(vcpus)
		n.Load = &load
	}
	return n
}

// positive parses a number that is finite and not negative.
func positive(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && f >= 0 && !math.IsInf(f, 0)
}
