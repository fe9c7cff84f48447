package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// State is the state of a process according to its pid file.
type State int

const (
	// Absent: there is no pid file; the process was never started or ended properly.
	Absent State = iota
	// Dead: no process holds the pid file; the process ended by itself.
	Dead
	// Running: the process is alive.
	Running
)

// String returns the state as users see it.
func (s State) String() string {
	switch s {
	case Running:
		return "running"
	case Dead:
		return "dead"
	default:
		return "absent"
	}
}

// Info describes a process according to its pid file.
type Info struct {
	State State
	// PID is the number in the pid file, 0 if there is none (yet). It names a live
	// process of this package only if State is Running.
	PID int
}

// Find returns the state of a pid file's process without affecting it.
func Find(pidFile string) (Info, error) {
	file, err := os.Open(pidFile)
	if errors.Is(err, os.ErrNotExist) {
		return Info{State: Absent}, nil
	}
	if err != nil {
		return Info{}, err
	}
	defer file.Close()
	return inspect(file)
}

// inspect reads the pid before it queries the lock. A held lock then confirms the number,
// because its holder wrote the number earlier.
func inspect(file *os.File) (Info, error) {
	pid, err := readPID(file)
	if err != nil {
		return Info{}, err
	}
	held, err := locked(file)
	if err != nil {
		return Info{}, err
	}
	if !held {
		return Info{State: Dead, PID: pid}, nil
	}
	return Info{State: Running, PID: pid}, nil
}

func readPID(file *os.File) (int, error) {
	buffer := make([]byte, 32)
	n, err := file.ReadAt(buffer, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	text := strings.TrimSpace(string(buffer[:n]))
	if text == "" {
		return 0, nil
	}
	pid, err := strconv.Atoi(text)
	if err != nil || pid <= 0 {
		return 0, fmt.Errorf("read %s: %q is not a process id", file.Name(), text)
	}
	return pid, nil
}
