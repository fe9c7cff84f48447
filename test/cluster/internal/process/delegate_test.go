package process

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const delegatePIDFile = "delegate.pid"

// runDelegate is the program that "delegating" processes start.
func runDelegate() {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	if err := os.WriteFile(delegatePIDFile, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		panic(err)
	}
	<-ctx.Done()
}

// startDelegating starts a process and returns it with a pidfd of its delegate.
func startDelegating(t *testing.T) (child *Child, pidFile string, delegate int) {
	t.Helper()
	child, pidFile = mustStart(t, "delegating")
	deadline := time.After(20 * time.Second)
	for {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(pidFile), delegatePIDFile))
		if line, complete := strings.CutSuffix(string(content), "\n"); err == nil && complete {
			pid, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			if delegate, err = unix.PidfdOpen(pid, 0); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { unix.Close(delegate) })
			return child, pidFile, delegate
		}
		select {
		case <-child.Done():
			t.Fatalf("the process has ended: %v", child.Err())
		case <-deadline:
			t.Fatalf("the delegate has not started: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func wantGone(t *testing.T, delegate int) {
	t.Helper()
	if gone, err := waitGone(delegate, 20*time.Second); err != nil || !gone {
		t.Errorf("the delegate is gone: %t, %v", gone, err)
	}
}

func TestDelegate(t *testing.T) {
	t.Run("a delegate gets SIGTERM and its process ends with it", aDelegateGetsSIGTERMAndItsProcessEndsWithIt)
	t.Run("a delegate dies with its process", aDelegateDiesWithItsProcess)
	t.Run("a process fails with its delegate", aProcessFailsWithItsDelegate)
	t.Run("a missing delegate is an error", aMissingDelegateIsAnError)
}

func aDelegateGetsSIGTERMAndItsProcessEndsWithIt(t *testing.T) {
	child, pidFile, delegate := startDelegating(t)
	if stopped, err := Stop(t.Context(), pidFile, 20*time.Second); err != nil || !stopped {
		t.Fatalf("got %t, %v", stopped, err)
	}
	waitDone(t, child)
	if err := child.Err(); err != nil {
		t.Errorf("the delegate ended cleanly, but the process ended with %v", err)
	}
	wantGone(t, delegate)
}

func aDelegateDiesWithItsProcess(t *testing.T) {
	child, _, delegate := startDelegating(t)
	if err := unix.Kill(child.PID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitDone(t, child)
	wantGone(t, delegate)
}

func aProcessFailsWithItsDelegate(t *testing.T) {
	child, _, delegate := startDelegating(t)
	if err := unix.PidfdSendSignal(delegate, unix.SIGKILL, nil, 0); err != nil {
		t.Fatal(err)
	}
	waitDone(t, child)
	if child.Err() == nil {
		t.Error("the delegate was killed, but the process ended cleanly")
	}
}

func aMissingDelegateIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	if err := Delegate(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names %s", err, path)
	}
}
