package process

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenOwner returns a pidfd of the process as a file, for Spec.Owner. Unlike a pid, it
// can never refer to another process.
func OpenOwner(pid int) (*os.File, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("open owner process %d: %w", pid, err)
	}
	return os.NewFile(uintptr(fd), fmt.Sprintf("pidfd of %d", pid)), nil
}

// WaitOwner blocks until the process of the pidfd has ended.
func WaitOwner(fd int) error {
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait for owner: %w", err)
		}
		return nil
	}
}

// AdoptOwner must be called by a started process that has an owner. It keeps processes
// that the caller starts from inheriting the descriptor.
func AdoptOwner() {
	unix.CloseOnExec(OwnerFD)
}
