package localcluster

import (
	"os/exec"
	"runtime"
)

// runTied runs a process that has Pdeathsig, so that it dies with this one. It
// tells started whether it could be started, and returns how it has ended.
//
// The kernel sends Pdeathsig when the thread that started the process ends, not
// the whole parent, and Go ends a thread when a goroutine that is locked to it
// returns. So this goroutine keeps a thread for itself until the process has
// ended: nothing else can run on that thread and end it before.
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
