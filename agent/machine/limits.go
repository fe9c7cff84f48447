package machine

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// limits tells what the control groups of this process allow, of version 1 or 2:
// the least of a group and of all that it is in.
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
		// The path may be that of the host, and not be seen from inside of a
		// container: then the top is the container's own group.
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

// groupsOf reads /proc/self/cgroup: the group by controller of version 1, and that
// of version 2 by the empty name.
func groupsOf(text string) map[string]string {
	groups := map[string]string{}
	for line := range strings.Lines(text) {
		// 4:cpu,cpuacct:/kubepods/pod1, or of version 2 0::/kubepods/pod1.
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

// number is a limit; 0 if there is none, as "max" and -1 say.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 53)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
