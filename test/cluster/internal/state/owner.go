package state

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Owner identifies a process across pid reuse.
type Owner struct {
	PID int `json:"pid"`
	// StartTime is in clock ticks since boot, as field 22 of /proc/PID/stat.
	StartTime string `json:"startTime"`
}

// FindOwner identifies the process that has the pid now.
func FindOwner(pid int) (*Owner, error) {
	startTime, err := startTime(pid)
	if err != nil {
		return nil, fmt.Errorf("find owner process %d: %w", pid, err)
	}
	return &Owner{PID: pid, StartTime: startTime}, nil
}

// Alive reports whether the process is still alive.
func (o *Owner) Alive() bool {
	startTime, err := startTime(o.PID)
	return err == nil && startTime == o.StartTime
}

func startTime(pid int) (string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The second field, the command's name in parentheses, may hold anything.
	_, rest, found := strings.Cut(string(content[strings.LastIndexByte(string(content), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 20 {
		return "", fmt.Errorf("unexpected content of /proc/%d/stat", pid)
	}
	if fields[0] == "Z" {
		return "", fmt.Errorf("process has ended: %w", unix.ESRCH)
	}
	return fields[19], nil
}
