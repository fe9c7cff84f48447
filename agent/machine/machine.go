package machine

import (
	"fmt"
	"io/fs"
	"strings"

	"k8s.io/utils/cpuset"
)

// Machine is a node as this process sees it.
type Machine struct {
	// CPUModel is as Node Feature Discovery labels it, e.g. "Intel-6-143" or
	// "AMD-25-1"; of Arm, implementer and part, e.g. "ARM-0x41-0xd0c". Empty if
	// it is not known.
	CPUModel string
	// CPUName is for people, e.g. "AMD EPYC 7B13"; empty if it is not known.
	CPUName string
	// Kernel is the release of Linux.
	Kernel string
	// Online are the vCPUs of the node, CPUs those of them that this process may
	// use.
	Online, CPUs cpuset.CPUSet
	// ThreadsPerCore is 2 where vCPUs share cores (SMT), else 1; 0 if it is not
	// known.
	ThreadsPerCore int
	// Sharing is with how many of CPUs each of them, in their order, shares its
	// core, itself counted; nil if that is not known.
	Sharing []int
	// CacheBytes is the size of all last-level caches together that CPUs have.
	CacheBytes int64
	// Quota is how many CPUs' time the control groups of this process let it
	// use; 0 is no limit.
	Quota float64
	// MemoryBytes is how much memory they let it use, and no more than is
	// available now.
	MemoryBytes int64
}

// Read reads what the root directory shows, os.DirFS("/") for this node.
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
		return Machine{}, fmt.Errorf("read the vCPUs that may be used from /proc/self/status: %w", err)
	}
	if m.Online.IsEmpty() {
		m.Online = m.CPUs
	}
	// The mask of a process may have vCPUs that the node does not.
	m.CPUs = m.CPUs.Intersection(m.Online)
	if m.CPUs.IsEmpty() {
		return Machine{}, fmt.Errorf("find the vCPUs that may be used: /proc/self/status names none of %s", m.Online)
	}
	m.ThreadsPerCore, m.Sharing, m.CacheBytes = topology(text, m.CPUs)
	m.Quota, m.MemoryBytes = limits(text)
	return m, nil
}

// VCPUs is how many vCPUs are measured: those that may be used.
func (m *Machine) VCPUs() int { return m.CPUs.Size() }

// firstValues reads lines of "key : value" and returns the first value of each
// key: in /proc/cpuinfo, that of the first processor.
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
