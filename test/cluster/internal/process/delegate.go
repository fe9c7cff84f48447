package process

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// Delegate runs a program that does this process's work in its place, and
// returns when it has ended. SIGTERM is passed on to it, and it dies with this
// process, whatever ends that: for everyone else the two are one.
func Delegate(path string, args ...string) error {
	// Pdeathsig is sent when the thread that started the program ends, which
	// one that is locked does not do before this function returns.
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
			// If it has ended already, there is nobody to tell.
			_ = command.Process.Signal(syscall.SIGTERM)
		case <-ended:
		}
	}()
	if err := command.Wait(); err != nil {
		return fmt.Errorf("run %s: %w", path, err)
	}
	return nil
}
