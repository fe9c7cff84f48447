package localcluster

import (
	"os/exec"
	"runtime"
)

// runTied runs a process that has Pdeathsig, so that it dies with this process. It sends the
// result of starting it to started, and returns how the process ended.
//
// The kernel sends Pdeathsig when the thread that started the process ends, not when the whole
// parent ends, and Go ends a thread when a goroutine that is locked to it returns. This
// goroutine therefore keeps its thread until the process has ended, so that no other goroutine
// can run on that thread and end it earlier.
func runTied(command *exec.Cmd, started chan<- error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := command.Start()
	started <- err
	if err != nil {
		return err
	}
	return command.Wait()
}
