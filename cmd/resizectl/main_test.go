package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// TestSignals checks that a signal ends a command, but not the process, which must remove what it has left, and that shells learn which it was.
func TestSignals(t *testing.T) {
	us, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	terminal := make(chan os.Signal, 1) // As without nohup, under which signals of the terminal stay ignored.
	signal.Notify(terminal, os.Interrupt, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(terminal) })
	never := print.ColorMode("never")
	for signal, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		ctx := untilSignal()
		if err := us.Signal(signal); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		if got := command.Report(ctx, io.Discard, never.Painter(io.Discard), ctx.Err()); got != want {
			t.Errorf("%s: exit %d, want %d", signal, got, want)
		}
	}
}
