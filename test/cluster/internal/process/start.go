package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The file descriptors that a started process inherits.
const (
	pidFileFD = 3
	// OwnerFD is a pidfd of the owner, if there is one.
	OwnerFD = 4
)

// adoptionTimeout bounds how long a started process may take to write its pid. Writing it
// is one of the first steps, so only a broken process exceeds the timeout.
const adoptionTimeout = 20 * time.Second

// Spec describes how to start a process.
type Spec struct {
	PIDFile string
	// LogFile receives stdout and stderr. Output is appended to an existing file.
	LogFile string
	// Dir is the working directory.
	Dir  string
	Path string
	Args []string
	Env  []string
	// Owner, if not nil, is passed on as descriptor OwnerFD.
	Owner *os.File
}

// Child is a process that this process started.
type Child struct {
	PID  int
	done chan struct{}
	err  error
}

// Done is closed when the process has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Err returns how the process ended. It is valid once Done is closed.
func (c *Child) Err() error { return c.err }

// Start starts a process in a session of its own and returns when the process has adopted
// its pid file. If the pid file's process is already alive, the error wraps ErrLocked.
func Start(ctx context.Context, spec Spec) (*Child, error) {
	pidFile, err := Lock(spec.PIDFile)
	if err != nil {
		return nil, err
	}
	// From now on, the copy that the process inherits keeps the lock.
	defer pidFile.Close()
	if err := pidFile.Truncate(0); err != nil {
		return nil, fmt.Errorf("empty %s: %w", spec.PIDFile, err)
	}
	logFile, err := os.OpenFile(spec.LogFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer logFile.Close()

	command := exec.Command(spec.Path, spec.Args...)
	command.Dir = spec.Dir
	command.Env = spec.Env
	command.Stdout = logFile
	command.Stderr = logFile
	command.ExtraFiles = []*os.File{pidFile}
	if spec.Owner != nil {
		command.ExtraFiles = append(command.ExtraFiles, spec.Owner)
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	child := &Child{PID: command.Process.Pid, done: make(chan struct{})}
	go func() {
		child.err = command.Wait()
		close(child.done)
	}()
	if err := child.awaitAdoption(ctx, pidFile); err != nil {
		// The process did not adopt its pid file, so nothing else could find and end it.
		_ = command.Process.Kill()
		<-child.done
		return nil, err
	}
	return child, nil
}

func (c *Child) awaitAdoption(ctx context.Context, pidFile *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, adoptionTimeout)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		if pid, err := readPID(pidFile); err != nil || pid == c.PID {
			return err
		}
		select {
		case <-c.done:
			return fmt.Errorf("the process ended immediately: %w", exitError(c.err))
		case <-ctx.Done():
			return fmt.Errorf("wait for the process to write its pid: %w", context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// exitError turns a clean but premature exit into an error.
func exitError(err error) error {
	if err == nil {
		return fmt.Errorf("exit status 0")
	}
	return err
}

// Adopt must be called by a started process before it does anything useful. It writes the
// pid into the inherited pid file, which stays open until the process ends. A process
// that was not started by Start may have any other file open as that descriptor; Adopt
// does not write to it.
func Adopt(pidFile string) error {
	var opened, named unix.Stat_t
	if err := unix.Stat(pidFile, &named); err != nil {
		return fmt.Errorf("stat pid file %s: %w", pidFile, err)
	}
	if err := unix.Fstat(pidFileFD, &opened); err != nil || opened.Dev != named.Dev || opened.Ino != named.Ino {
		return fmt.Errorf("adopt pid file %s: it is not inherited as descriptor %d", pidFile, pidFileFD)
	}
	// Children of this process must not keep the lock.
	unix.CloseOnExec(pidFileFD)
	pid := []byte(strconv.Itoa(os.Getpid()) + "\n")
	if _, err := unix.Pwrite(pidFileFD, pid, 0); err != nil {
		return fmt.Errorf("write pid file: %w", err)
	}
	return nil
}
