package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func main() {
	exitWhenSettled := flag.Bool("exit-when-settled", false, "end once the sample workloads have their sizes, instead of staying until Ctrl-C")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "error: unknown argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	os.Exit(run(*exitWhenSettled))
}

func run(exitWhenSettled bool) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A second signal ends this process at once, and server and cluster with it.
	context.AfterFunc(ctx, stop)
	// Client-go reports a connection that is broken for a while, which people
	// here cause on purpose.
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))

	root, err := localcluster.Root()
	if err == nil {
		err = newDemo(filepath.Join(root, ".run"), os.Stdout, os.Stderr).run(ctx, exitWhenSettled)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}
