package machine

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// limits returns what the control groups of this process allow, in version 1 or 2: the lowest
// limit of a group and all its ancestors.
func limits(text func(string) string) (quota float64, memoryBytes int64) {
	const mount = "sys/fs/cgroup"
	groups := groupsOf(text("proc/self/cgroup"))
	each := func(controller string, read func(dir string, v1 bool)) {
		group, v1 := groups[controller]
		dir := mount
		if v1 {
			dir = path.Join(mount, controller)
		} else {
			group = groups[""]
		}
		// The path may be a path of the host that does not exist inside the container. The
		// root is then the container's own group.
		for ; ; group = path.Dir(group) {
			read(path.Join(dir, group), v1)
			if group == "/" || group == "." || group == "" {
				return
			}
		}
	}
	each("cpu", func(dir string, v1 bool) {
		var most, period string
		if v1 {
			most, period = text(dir+"/cpu.cfs_quota_us"), text(dir+"/cpu.cfs_period_us")
		} else {
			most, period, _ = strings.Cut(text(dir+"/cpu.max"), " ")
		}
		q, p := number(most), number(period)
		if q > 0 && p > 0 && (quota == 0 || float64(q)/float64(p) < quota) {
			quota = float64(q) / float64(p)
		}
	})
	memoryBytes = number(strings.TrimSuffix(firstValues(text("proc/meminfo"))["MemAvailable"], " kB")) << 10
	each("memory", func(dir string, v1 bool) {
		name := "/memory.max"
		if v1 {
			name = "/memory.limit_in_bytes"
		}
		if limit := number(text(dir + name)); limit > 0 && (memoryBytes == 0 || limit < memoryBytes) {
			memoryBytes = limit
		}
	})
	return quota, memoryBytes
}

// groupsOf parses /proc/self/cgroup. It returns the group of each version 1 controller, and
// the version 2 group under the empty name.
func groupsOf(text string) map[string]string {
	groups := map[string]string{}
	for line := range strings.Lines(text) {
		// 4:cpu,cpuacct:/kubepods/pod1, or in version 2 0::/kubepods/pod1.
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 || slices.Contains(strings.Split(fields[2], "/"), "..") {
			continue
		}
		for controller := range strings.SplitSeq(fields[1], ",") {
			groups[controller] = fields[2]
		}
	}
	return groups
}

// number parses a limit. It returns 0 for no limit, which is "max" or -1.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 53)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
