package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// State is what a pid file tells about its process.
type State int

const (
	// Absent: no pid file, the process was never started or properly ended.
	Absent State = iota
	// Dead: a pid file that nobody holds, the process ended by itself.
	Dead
	// Running: the process lives.
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

// Info is a process as its pid file shows it.
type Info struct {
	State State
	// PID is the number in the pid file, 0 if there is none (yet). It names a
	// live process of ours only if State is Running.
	PID int
}

// Find looks at the process of a pid file without disturbing it.
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

// inspect reads the pid before it asks for the lock: the lock then vouches for
// the number, because whoever held it wrote the number earlier.
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
