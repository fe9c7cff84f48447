package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// childVariable makes the test binary act as a process that a test starts. Its value
// selects the behavior.
const childVariable = "TESTCLUSTER_PROCESS_TEST_CHILD"

func TestMain(m *testing.M) {
	behavior := os.Getenv(childVariable)
	if behavior == "" {
		os.Exit(m.Run())
	}
	if behavior == "stubborn" {
		// Before Adopt: once the pid is in the file, SIGTERM must not kill.
		signal.Ignore(unix.SIGTERM)
	}
	if behavior == "delegate" {
		runDelegate()
		return
	}
	if behavior != "failing" {
		if err := Adopt("child.pid"); err != nil {
			panic(err)
		}
	}
	switch behavior {
	case "failing":
		os.Exit(3)
	case "owned":
		AdoptOwner()
		if err := WaitOwner(OwnerFD); err != nil {
			panic(err)
		}
	case "delegating":
		if err := os.Setenv(childVariable, "delegate"); err != nil {
			panic(err)
		}
		if err := Delegate(os.Args[0]); err != nil {
			panic(err)
		}
	default:
		for {
			_ = unix.Pause()
		}
	}
}

func startChild(t *testing.T, dir, behavior string, owner *os.File) (*Child, string, error) {
	t.Helper()
	pidFile := filepath.Join(dir, "child.pid")
	child, err := Start(t.Context(), Spec{
		PIDFile: pidFile,
		LogFile: filepath.Join(dir, "child.log"),
		Dir:     dir,
		Path:    os.Args[0],
		Env:     append(os.Environ(), childVariable+"="+behavior),
		Owner:   owner,
	})
	if err == nil {
		t.Cleanup(func() {
			if _, err := Stop(context.Background(), pidFile, 0); err != nil {
				t.Error(err)
			}
		})
	}
	return child, pidFile, err
}

func mustStart(t *testing.T, behavior string) (*Child, string) {
	t.Helper()
	child, pidFile, err := startChild(t, t.TempDir(), behavior, nil)
	if err != nil {
		t.Fatal(err)
	}
	return child, pidFile
}

func wantInfo(t *testing.T, pidFile string, want Info) {
	t.Helper()
	got, err := Find(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func waitDone(t *testing.T, child *Child) {
	t.Helper()
	select {
	case <-child.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the process has not ended")
	}
}

func TestProcess(t *testing.T) {
	t.Run("a started process is running until it is stopped", aStartedProcessIsRunningUntilItIsStopped)
	t.Run("a second start fails while the first process runs", aSecondStartFailsWhileTheFirstProcessRuns)
	t.Run("a process that ignores SIGTERM is killed", aProcessThatIgnoresSIGTERMIsKilled)
	t.Run("a killed process leaves a dead pid file", aKilledProcessLeavesADeadPIDFile)
	t.Run("a process that reuses the pid is not killed", aProcessThatReusesThePIDIsNotKilled)
	t.Run("stop without a pid file does nothing", stopWithoutAPIDFileDoesNothing)
	t.Run("a garbled pid file is an error", aGarbledPIDFileIsAnError)
	t.Run("a process that ends immediately is an error", aProcessThatEndsImmediatelyIsAnError)
	t.Run("a process notices when its owner ends", aProcessNoticesWhenItsOwnerEnds)
}

func aStartedProcessIsRunningUntilItIsStopped(t *testing.T) {
	child, pidFile := mustStart(t, "obedient")
	wantInfo(t, pidFile, Info{State: Running, PID: child.PID})
	stopped, err := Stop(t.Context(), pidFile, 10*time.Second)
	if err != nil || !stopped {
		t.Fatalf("got %t, %v", stopped, err)
	}
	waitDone(t, child)
	wantInfo(t, pidFile, Info{State: Absent})
}

func aSecondStartFailsWhileTheFirstProcessRuns(t *testing.T) {
	child, pidFile := mustStart(t, "obedient")
	_, _, err := startChild(t, filepath.Dir(pidFile), "obedient", nil)
	if !errors.Is(err, ErrLocked) {
		t.Fatalf("got error %v, want %v", err, ErrLocked)
	}
	wantInfo(t, pidFile, Info{State: Running, PID: child.PID})
}

func aProcessThatIgnoresSIGTERMIsKilled(t *testing.T) {
	child, pidFile := mustStart(t, "stubborn")
	if stopped, err := Stop(t.Context(), pidFile, 50*time.Millisecond); err != nil || !stopped {
		t.Fatalf("got %t, %v", stopped, err)
	}
	waitDone(t, child)
}

func aKilledProcessLeavesADeadPIDFile(t *testing.T) {
	child, pidFile := mustStart(t, "obedient")
	if err := unix.Kill(child.PID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitDone(t, child)
	wantInfo(t, pidFile, Info{State: Dead, PID: child.PID})

	t.Run("another start reuses the pid file", func(t *testing.T) {
		again, _, err := startChild(t, filepath.Dir(pidFile), "obedient", nil)
		if err != nil {
			t.Fatal(err)
		}
		wantInfo(t, pidFile, Info{State: Running, PID: again.PID})
	})
}

func aProcessThatReusesThePIDIsNotKilled(t *testing.T) {
	// This process has the pid that is in the file, but does not hold the file's lock.
	stranger := exec.Command("sleep", "60")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = stranger.Wait() // It is killed below.
		close(ended)
	}()
	defer func() {
		_ = stranger.Process.Kill()
		<-ended
	}()
	pidFile := filepath.Join(t.TempDir(), "child.pid")
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(stranger.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	wantInfo(t, pidFile, Info{State: Dead, PID: stranger.Process.Pid})

	stopped, err := Stop(t.Context(), pidFile, 0)
	if err != nil || stopped {
		t.Fatalf("got %t, %v", stopped, err)
	}
	wantInfo(t, pidFile, Info{State: Absent})
	select {
	case <-ended:
		t.Fatal("the unrelated process was killed")
	default:
	}
	if err := stranger.Process.Signal(unix.Signal(0)); err != nil {
		t.Errorf("the unrelated process is gone: %v", err)
	}
}

func stopWithoutAPIDFileDoesNothing(t *testing.T) {
	stopped, err := Stop(t.Context(), filepath.Join(t.TempDir(), "none.pid"), 0)
	if err != nil || stopped {
		t.Fatalf("got %t, %v", stopped, err)
	}
}

func aGarbledPIDFileIsAnError(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "child.pid")
	for _, content := range []string{"abc", "-1", "0"} {
		if err := os.WriteFile(pidFile, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(pidFile); err == nil {
			t.Errorf("%q was accepted as a pid", content)
		}
	}
}

func aProcessThatEndsImmediatelyIsAnError(t *testing.T) {
	if _, _, err := startChild(t, t.TempDir(), "failing", nil); err == nil {
		t.Fatal("got no error")
	}
}

func aProcessNoticesWhenItsOwnerEnds(t *testing.T) {
	owner := exec.Command("sleep", "60")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	pidfd, err := OpenOwner(owner.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer pidfd.Close()
	child, _, err := startChild(t, t.TempDir(), "owned", pidfd)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-child.Done():
		t.Fatal("the process ended before its owner")
	default:
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // It was killed.
	waitDone(t, child)
}
