package cgroup

import (
	"path"
	"strings"
)

// The most that a sandbox has. It only waits for signals, with a few hundred kilobytes.
const (
	sandboxTasks  = 1
	sandboxMemory = 4 << 20
	sandboxCPU    = 1_000_000
)

// sandbox returns the name of the group of a pod's sandbox, the "pause" container; empty if it has
// none. Names do not tell it from containers, but the runtime creates it before them. CRI-O creates
// none by default, so what comes first may be a container.
func (t *Tree) sandbox(dir string, groups []group) string {
	first := group{}
	known := t.sandboxes[dir]
	for _, g := range groups {
		if _, ok := containerID(g.name); !ok {
			continue
		}
		if g.name == known || strings.HasPrefix(g.name, "crio-") {
			return known
		}
		if first.name == "" || g.inode < first.inode {
			first = g
		}
	}
	if first.name == "" || !t.waits(path.Join(dir, first.name)) {
		return ""
	}
	return first.name
}

// waits reports whether a group uses as little as a sandbox does, which rules out the container of
// a runtime that does not create a group for the sandbox.
func (t *Tree) waits(dir string) bool {
	value := func(file string, parse func([]byte) Count) Count {
		content, err := t.content(dir + file)
		if err != nil {
			return Count{}
		}
		return parse(content)
	}
	atMost := func(c Count, limit int64) bool { return !c.Known || c.N <= limit }
	cpu := value("/cpu.stat", func(content []byte) Count { return field(content, "usage_usec") })
	return cpu.Known && cpu.N <= sandboxCPU && atMost(value("/pids.current", number), sandboxTasks) && atMost(value("/memory.current", number), sandboxMemory)
}
