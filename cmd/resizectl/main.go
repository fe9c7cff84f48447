package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	// After the first Ctrl-C, the next one kills the process, as usual.
	context.AfterFunc(ctx, stop)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(run(ctx, filepath.Base(os.Args[0]), streams, os.Args[1:]))
}
