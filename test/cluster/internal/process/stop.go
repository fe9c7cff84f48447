package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Stop ends the process of a pid file: it sends SIGTERM, and SIGKILL after the grace
// period, waits until the process is gone, and removes the file. A process that merely
// has the pid in an unlocked file is not ended. Stop reports whether there was a live
// process to end.
func Stop(ctx context.Context, pidFile string, grace time.Duration) (bool, error) {
	wasRunning, err := end(ctx, pidFile, grace)
	if err != nil {
		return wasRunning, err
	}
	if err := os.Remove(pidFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return wasRunning, err
	}
	return wasRunning, nil
}

func end(ctx context.Context, pidFile string, grace time.Duration) (bool, error) {
	file, err := os.Open(pidFile)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()

	pidfd, err := openRunning(ctx, file)
	if err != nil || pidfd < 0 {
		return false, err
	}
	defer unix.Close(pidfd)

	for _, step := range []struct {
		signal unix.Signal
		wait   time.Duration
	}{{unix.SIGTERM, grace}, {unix.SIGKILL, 10 * time.Second}} {
		if err := unix.PidfdSendSignal(pidfd, step.signal, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return true, fmt.Errorf("send %v to process of %s: %w", step.signal, pidFile, err)
		}
		gone, err := waitGone(pidfd, step.wait)
		if gone || err != nil {
			return true, err
		}
	}
	return true, fmt.Errorf("process of %s did not end", pidFile)
}

// openRunning returns a pidfd of the file's live process, or -1 if there is none. It
// checks the lock again after it has opened the pidfd: if the lock is still held, the pid
// was not reused in between.
func openRunning(ctx context.Context, file *os.File) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, adoptionTimeout)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		before, err := inspect(file)
		if err != nil || before.State != Running {
			return -1, err
		}
		if before.PID != 0 {
			pidfd, err := unix.PidfdOpen(before.PID, 0)
			if err == nil {
				after, err := inspect(file)
				if err == nil && after == before {
					return pidfd, nil
				}
				unix.Close(pidfd)
				if err != nil {
					return -1, err
				}
			} else if !errors.Is(err, unix.ESRCH) {
				return -1, fmt.Errorf("open process %d: %w", before.PID, err)
			}
		}
		// The process is just starting or has just ended. The file soon shows which.
		select {
		case <-ctx.Done():
			return -1, fmt.Errorf("%s is locked but names no live process: %w", file.Name(), ctx.Err())
		case <-ticker.C:
		}
	}
}

// waitGone waits until the process has ended, at most for the timeout, and reports
// whether it has.
func waitGone(pidfd int, timeout time.Duration) (bool, error) {
	deadline := time.Now().Add(timeout)
	for {
		left := max(time.Until(deadline), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("wait for process: %w", err)
		}
		if n > 0 {
			return true, nil
		}
		if left == 0 {
			return false, nil
		}
	}
}
