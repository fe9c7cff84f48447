package cgroup

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// ErrGone means that a container has ended.
var ErrGone = errors.New("the control group was removed")

// Read reads what a container has used. The error is ErrGone if it has ended.
func (t *Tree) Read(c Container) (Reading, error) {
	var r Reading
	for _, file := range [...]struct {
		name string
		take func(content []byte)
	}{
		{"/cpu.stat", func(content []byte) {
			r.CPU = field(content, "usage_usec")
			r.Periods, r.Throttled = field(content, "nr_periods"), field(content, "nr_throttled")
		}},
		{"/memory.current", func(content []byte) { r.Memory = number(content) }},
		{"/memory.stat", func(content []byte) {
			r.Inactive, r.Faulted = field(content, "inactive_file"), faulted(content)
		}},
		{"/memory.max", func(content []byte) { r.Limit = number(content) }},
		{"/memory.peak", func(content []byte) { r.Peak = number(content) }},
		{"/memory.events", func(content []byte) { r.Limited = field(content, "max").Plus(field(content, "high")) }},
		{"/cpu.pressure", func(content []byte) { r.CPUWait = stalled(content) }},
		{"/memory.pressure", func(content []byte) { r.MemoryWait = stalled(content) }},
	} {
		content, err := t.content(c.Dir + file.name)
		if err != nil {
			return Reading{}, err
		}
		if content != nil {
			file.take(content)
		}
	}
	// Every group has cpu.stat, with or without the controller.
	if !r.CPU.Known {
		return Reading{}, ErrGone
	}
	return r, nil
}

// content returns the content of a file until the next call; nil if there is none.
func (t *Tree) content(path string) ([]byte, error) {
	f, err := open(path, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	defer func() { _ = unix.Close(f) }()
	for n := 0; ; {
		if n == len(t.buffer) {
			t.buffer = append(t.buffer, make([]byte, len(t.buffer))...)
		}
		more, err := unix.Read(f, t.buffer[n:])
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENODEV):
			return nil, ErrGone
		case errors.Is(err, unix.EOPNOTSUPP):
			return nil, nil // Pressure is disabled, at boot or for this group.
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", path, err)
		case more == 0:
			return t.buffer[:n], nil
		default:
			n += more
		}
	}
}
