package process

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// Delegate runs a program that does the work of this process, and returns when the
// program has ended. It passes SIGTERM on to the program. The program dies with this
// process, however the process ends: to all others, the two are one.
func Delegate(path string, args ...string) error {
	// Pdeathsig is sent when the thread that started the program ends. A locked thread
	// does not end before this function returns.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	defer signal.Stop(terminate)

	command := exec.Command(path, args...)
	command.Stdout = os.Stdout
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-terminate:
			// An error means that the program has already ended.
			_ = command.Process.Signal(syscall.SIGTERM)
		case <-ended:
		}
	}()
	if err := command.Wait(); err != nil {
		return fmt.Errorf("run %s: %w", path, err)
	}
	return nil
}
