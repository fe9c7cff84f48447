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
	exitWhenSettled := flag.Bool("exit-when-settled", false, "exit once the sample workloads have their sizes, instead of running until Ctrl-C")
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
	// A second signal ends this process immediately, and the server and the cluster with it.
	context.AfterFunc(ctx, stop)
	// client-go logs temporarily broken connections, which users of the demo cause on
	// purpose.
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
