package machine

import (
	"fmt"
	"io/fs"
	"strings"

	"k8s.io/utils/cpuset"
)

// Machine is a node as this process sees it.
type Machine struct {
	// CPUModel is the CPU model as Node Feature Discovery labels it, and its stepping, e.g.
	// "Intel-6-143-8" or "AMD-25-1-0". For Arm, it consists of implementer and part, e.g.
	// "ARM-0x41-0xd0c". Empty if unknown.
	CPUModel string
	// CPUName is the human-readable name, e.g. "AMD EPYC 7B13"; empty if unknown.
	CPUName string
	// Kernel is the release of Linux.
	Kernel string
	// Online are the vCPUs of the node. CPUs are the ones that this process may use.
	Online, CPUs cpuset.CPUSet
	// ThreadsPerCore is 2 where vCPUs share cores (SMT), 1 where they do not, and 0 if unknown.
	ThreadsPerCore int
	// Sharing has an element for each of CPUs, in order: how many of CPUs share its core,
	// itself included. It is nil if unknown.
	Sharing []int
	// CacheBytes is the total size of the last-level caches of CPUs.
	CacheBytes int64
	// Quota is the CPU quota of this process's control groups, in CPUs; 0 means no limit.
	Quota float64
	// MemoryBytes is how much memory this process can use: the limit of its control groups,
	// but at most what is available now.
	MemoryBytes int64
}

// Read reads the machine's description below a root directory, which is os.DirFS("/") for
// this node.
func Read(root fs.FS) (Machine, error) {
	var m Machine
	text := func(name string) string {
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(content))
	}
	info := firstValues(text("proc/cpuinfo"))
	m.CPUModel, m.CPUName = cpuModel(info), info["model name"]
	m.Kernel = text("proc/sys/kernel/osrelease")
	var err error
	if m.Online, err = cpuset.Parse(text("sys/devices/system/cpu/online")); err != nil {
		return Machine{}, fmt.Errorf("read the vCPUs of this node from /sys/devices/system/cpu/online: %w", err)
	}
	if m.CPUs, err = cpuset.Parse(firstValues(text("proc/self/status"))["Cpus_allowed_list"]); err != nil {
		return Machine{}, fmt.Errorf("read the vCPUs that this process may use from /proc/self/status: %w", err)
	}
	if m.Online.IsEmpty() {
		m.Online = m.CPUs
	}
	// The mask of a process may include vCPUs that the node does not have.
	m.CPUs = m.CPUs.Intersection(m.Online)
	if m.CPUs.IsEmpty() {
		return Machine{}, fmt.Errorf("find the vCPUs that this process may use: /proc/self/status lists none of %s", m.Online)
	}
	m.ThreadsPerCore, m.Sharing, m.CacheBytes = topology(text, m.CPUs)
	m.Quota, m.MemoryBytes = limits(text)
	return m, nil
}

// VCPUs returns the number of vCPUs that this process may use and measures.
func (m *Machine) VCPUs() int { return m.CPUs.Size() }

// firstValues parses lines of the form "key : value" and returns the first value of each key.
// In /proc/cpuinfo, these are the values of the first processor.
func firstValues(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		key = strings.TrimSpace(key)
		if _, known := values[key]; found && !known {
			values[key] = strings.TrimSpace(value)
		}
	}
	return values
}
