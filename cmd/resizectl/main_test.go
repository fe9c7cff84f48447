package main

import (
	"os"
	"syscall"
	"testing"
)

// TestSignals checks that a signal ends a command, but not the process, which must remove what it has left.
func TestSignals(t *testing.T) {
	us, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		ctx := untilSignal()
		if err := us.Signal(signal); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
	}
}
