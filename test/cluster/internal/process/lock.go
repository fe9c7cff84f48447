package process

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ErrLocked reports that another process holds the lock of a file.
var ErrLocked = errors.New("locked by another process")

// Lock opens the file at path, creates it if necessary, and locks it for as long as any
// process keeps the returned file open. If the lock is already held, the error wraps
// ErrLocked.
func Lock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	err = unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock)
	if err == nil {
		return file, nil
	}
	file.Close()
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		err = ErrLocked
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// locked reports whether any other open file description holds the file's lock.
func locked(file *os.File) (bool, error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
		return false, fmt.Errorf("query lock of %s: %w", file.Name(), err)
	}
	return lock.Type != unix.F_UNLCK, nil
}
