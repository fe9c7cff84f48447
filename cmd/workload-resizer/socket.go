package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// listenSocket listens on a Unix socket that only this user can reach. The directory keeps
// others out from the start; the socket's own mode does from then on. A socket that a server
// left behind is replaced.
func listenSocket(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of the socket: %w", err)
	}
	if err := checkPrivate(dir); err != nil {
		return nil, err
	}
	lock, err := lockSocket(path)
	if err != nil {
		return nil, err
	}
	listener, err := bindSocket(path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &socketListener{listener, lock}, nil
}

// ownDirectory says what to do about a directory that is not private. It does not say to change
// its mode: it may be one that others need, such as /tmp.
const ownDirectory = "use a directory of your own with the mode 0700, or one that does not exist yet: set unix:///PATH or, for the default of the API, XDG_RUNTIME_DIR"

// checkPrivate returns an error if other users may enter a directory, or own it.
func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case !ok || int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("the directory %s belongs to another user: %s", dir, ownDirectory)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("other users may enter the directory %s: %s", dir, ownDirectory)
	}
	return nil
}

// lockSocket returns a lock that the process holds until it ends. So a socket whose lock is
// free has no server.
func lockSocket(path string) (*os.File, error) {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the socket: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = fmt.Errorf("another server listens at %s: stop it, or use a different path", path)
		}
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// bindSocket binds the socket, in place of one without a server.
func bindSocket(path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is not a socket: remove it, or use a different path", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove the socket of a server that has ended: %w", err)
		}
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// socketListener removes the socket, and then ends the lock, when it is closed.
type socketListener struct {
	net.Listener
	lock *os.File
}

// Close implements net.Listener.
func (l *socketListener) Close() error { return errors.Join(l.Listener.Close(), l.lock.Close()) }
