package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

func main() {
	ctx := untilSignal()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(run(ctx, filepath.Base(os.Args[0]), streams, os.Args[1:]))
}

// untilSignal returns a context that ends with Ctrl-C, SIGTERM or the terminal, so that commands can say farewell, and remove what must not
// stay behind, such as the file with a login. The next signal kills the process, as usual.
func untilSignal() context.Context {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // As with nohup.
		ends = append(ends, syscall.SIGHUP)
	}
	first := make(chan os.Signal, 1)
	signal.Notify(first, ends...)
	ctx, end := context.WithCancelCause(context.Background())
	go func() {
		by := <-first
		signal.Stop(first)
		end(command.EndedBy{Signal: by})
	}()
	return ctx
}
