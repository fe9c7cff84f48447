package node

import (
	"path"
	"strconv"
	"strings"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// runProgram simulates the program of a container that has started, if the program is
// known; see the package comment. The caller holds mu.
func (m *machine) runProgram(c *container) {
	if cgroup := m.pods[uidOf(c.status.Labels)]; cgroup != nil && cgroup.oneShot[c.status.GetMetadata().GetName()] && c.work == nil {
		c.finish(0)
		return
	}
	duration, exitCode, ends := parseProgram(c.command)
	if !ends {
		return
	}
	left := time.Until(time.Unix(0, c.status.StartedAt).Add(duration))
	if left <= 0 {
		c.finish(exitCode)
		return
	}
	c.exit = time.AfterFunc(left, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		c.finish(exitCode)
	})
}

// resumePrograms continues the programs of a restored machine.
func (m *machine) resumePrograms() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, container := range m.containers {
		if container.status.State == runtimeapi.ContainerState_CONTAINER_RUNNING {
			m.runProgram(container)
		}
	}
}

// parseProgram returns how long a command runs and its exit code, if it is a command that
// ends: "true", "false" or "sleep SECONDS", including as the only command of a shell.
func parseProgram(command []string) (duration time.Duration, exitCode int32, ends bool) {
	if len(command) == 3 && (path.Base(command[0]) == "sh" || path.Base(command[0]) == "bash") && command[1] == "-c" {
		command = strings.Fields(command[2])
	}
	if len(command) == 0 {
		return 0, 0, false
	}
	switch name := path.Base(command[0]); {
	case name == "true" && len(command) == 1:
		return 0, 0, true
	case name == "false" && len(command) == 1:
		return 0, 1, true
	case name == "sleep" && len(command) == 2:
		seconds, err := strconv.ParseFloat(command[1], 64)
		if err != nil || seconds < 0 || seconds > maxSleep.Seconds() {
			return 0, 0, false
		}
		return time.Duration(seconds * float64(time.Second)), 0, true
	}
	return 0, 0, false
}

// maxSleep is the longest sleep that is simulated to its end. It also excludes
// "infinity".
const maxSleep = 365 * 24 * time.Hour
